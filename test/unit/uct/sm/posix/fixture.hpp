// Test fixture: interfaces of the posix transport.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ucs/security/key.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/posix/posix_component.hpp"

namespace uct::posix::test {

// An interface with its event loop. Records the arriving messages.
class node {
public:
    struct message {
        am_id id;
        std::string bytes;
    };

    struct sleeper {};

    explicit node(const ucs::config::source& config = ucs::config::source::empty())
        : node(config, false) {}
    // A node whose peers wake it when it sleeps.
    node(const ucs::config::source& config, sleeper) : node(config, true) {}

    node(const ucs::config::source& config, bool sleeps)
        : events_(std::move(*ucs::async::event_loop::create())), config_(config) {
        auto opened = posix_component().open(
            {"posix", "memory", device_type::shared_memory},
            {.events = *events_, .config = config_, .worker_uid = 0x1234, .sleeps = sleeps});
        REQUIRE(opened.ok());
        iface_ = std::move(*opened);
        for (am_id id = 0; id < 4; ++id) {
            handlers_[id] = {this, id};
            am_handler handler;
            handler.deliver = [](void* arg, void* data, std::size_t length) {
                const auto* self = static_cast<entry*>(arg);
                REQUIRE(reinterpret_cast<std::uintptr_t>(data) % 8 == 0);
                self->owner->received.push_back(
                    {self->id, std::string(static_cast<const char*>(data), length)});
                if (self->owner->on_message) self->owner->on_message();
            };
            handler.arg = &handlers_[id];
            iface_->set_am_handler(id, handler);
        }
        iface_->set_error_handler({[](void* arg, ep& which, ucs_status_t status) {
                                       static_cast<node*>(arg)->failures.emplace_back(&which,
                                                                                      status);
                                   },
                                   this});
    }

    [[nodiscard]] std::vector<std::byte> address() const {
        std::vector<std::byte> bytes(iface_->attr().address_length);
        iface_->pack_address(bytes);
        return bytes;
    }
    [[nodiscard]] std::unique_ptr<ep> connect_to(const node& peer) {
        return connect_to(peer.address());
    }
    [[nodiscard]] std::unique_ptr<ep> connect_to(const std::vector<std::byte>& address) {
        auto made = iface_->create_ep(address);
        REQUIRE(made.ok());
        return std::move(*made);
    }
    unsigned progress() {
        events_->poll(0);
        return iface_->progress();
    }
    iface& get() { return *iface_; }
    ucs::async::event_loop& events() { return *events_; }
    void close() { iface_.reset(); }

    std::vector<message> received;
    std::vector<std::pair<ep*, ucs_status_t>> failures;
    std::function<void()> on_message;

private:
    struct entry {
        node* owner;
        am_id id;
    };
    std::unique_ptr<ucs::async::event_loop> events_;
    ucs::config::source config_;
    entry handlers_[4] = {};
    std::unique_ptr<iface> iface_;
};

// am_short with a header and text.
inline ucs_status_t send(ep& to, am_id id, std::uint64_t header, const std::string& text) {
    return to.am_short(id, header, text.data(), text.size());
}

// am_bcopy of text.
inline ssize_t send_packed(ep& to, am_id id, const std::string& text) {
    return to.am_bcopy(
        id,
        [](void* arg, void* into, std::size_t capacity) {
            const auto& from = *static_cast<const std::string*>(arg);
            REQUIRE(from.size() <= capacity);
            std::memcpy(into, from.data(), from.size());
            return from.size();
        },
        const_cast<std::string*>(&text));
}

// Progresses all nodes until a condition holds. Returns false after very many turns.
inline bool until(std::initializer_list<node*> all, const std::function<bool()>& holds) {
    for (int turn = 0; turn < 1'000'000 && !holds(); ++turn) {
        for (node* each : all)
            each->progress();
    }
    return holds();
}

// The secret in a node's address.
inline ucs::security::worker_secret secret_of(const node& which) {
    return ucs::security::worker_secret::from_bytes(
        sm::parse_posix_address(which.address())->secret);
}

inline std::string with_header(std::uint64_t header, const std::string& text) {
    std::string whole(reinterpret_cast<const char*>(&header), sizeof header);
    whole += text;
    return whole;
}

}  // namespace uct::posix::test
