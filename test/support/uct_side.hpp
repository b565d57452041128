// A worker in a test of a transport: its event loop, its interface, and what arrives there.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <utility>

#include "uct/api/component.hpp"

namespace test {

struct side_options {
    std::uint64_t worker_uid = 1;
    bool sleeps = false;  // peers wake the worker
    const ucs::security::key* job_key = nullptr;
};

class uct_side {
public:
    uct_side(const uct::component& transport, const uct::resource& device,
             const ucs::config::source& settings = ucs::config::source::empty(),
             const side_options& options = {})
        : events(std::move(*ucs::async::event_loop::create())), config(settings) {
        auto opened = transport.open(device, {.events = *events,
                                              .config = config,
                                              .worker_uid = options.worker_uid,
                                              .sleeps = options.sleeps,
                                              .job_key = options.job_key});
        REQUIRE(opened);
        iface = std::move(*opened);
        for (uct::am_id id = 0; id < slots_.size(); ++id) {
            slots_[id] = {this, id};
            iface->set_am_handler(id, {.deliver = deliver, .arg = &slots_[id]});
        }
        iface->set_error_handler({[](void* arg, uct::ep& which, ucs_status_t status) {
                                      static_cast<uct_side*>(arg)->failed.push_back(&which);
                                      static_cast<uct_side*>(arg)->failures.push_back(status);
                                  },
                                  this});
    }
    uct_side(const uct_side&) = delete;
    uct_side& operator=(const uct_side&) = delete;

    unsigned progress() { return events->poll(0) + iface->progress(); }

    [[nodiscard]] std::vector<std::byte> address() const {
        std::vector<std::byte> packed(iface->attr().address_length);
        iface->pack_address(packed);
        return packed;
    }
    [[nodiscard]] std::unique_ptr<uct::ep> connect(const std::vector<std::byte>& to) {
        auto made = iface->create_ep(to);
        REQUIRE(made);
        return std::move(*made);
    }
    [[nodiscard]] std::unique_ptr<uct::ep> connect(const uct_side& to) {
        return connect(to.address());
    }

    std::unique_ptr<ucs::async::event_loop> events;
    const ucs::config::source config;
    std::unique_ptr<uct::iface> iface;
    std::vector<std::string> inbox;      // messages with ids below 4
    std::vector<uct::am_id> inbox_ids;   // their ids
    std::function<void()> on_message;    // called for each, if set
    std::vector<ucs_status_t> failures;  // of endpoints
    std::vector<uct::ep*> failed;        // these endpoints, which may be gone

private:
    struct slot {
        uct_side* owner;
        uct::am_id id;
    };
    static void deliver(void* arg, void* data, std::size_t length) {
        const auto& [owner, id] = *static_cast<const slot*>(arg);
        REQUIRE(reinterpret_cast<std::uintptr_t>(data) % 8 == 0);
        owner->inbox.emplace_back(static_cast<const char*>(data), length);
        owner->inbox_ids.push_back(id);
        if (owner->on_message) owner->on_message();
    }

    std::array<slot, 4> slots_{};
};

}  // namespace test
