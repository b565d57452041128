// Helpers of programs that test the limits of a transport on the first device.
#pragma once

#include <thread>

#include "test/conformance/support/accessible_memory.hpp"
#include "test/conformance/support/sender.hpp"
#include "test/support/vfs_text.hpp"
#include "ucs/time/clock.hpp"
#include "uct/components/components.hpp"

namespace conformance {

using test::vfs_text;

struct setting {
    const char* name;
    const char* text;
};

class on_device : public environment {
public:
    // `settings` take precedence over `usual`.
    on_device(std::string_view transport, const setting& usual,
              std::initializer_list<setting> settings) {
        config_.set(usual.name, usual.text);
        for (const setting& each : settings)
            config_.set(each.name, each.text);
        for (const uct::component* each : uct::builtin_components()) {
            if (each->name() == transport) transport_ = each;
        }
        REQUIRE(transport_ != nullptr);
        const uct::listing found = transport_->query(config_);
        REQUIRE_FALSE(found.usable.empty());
        where_ = found.usable.front();
    }
    const uct::component& transport() const override { return *transport_; }
    uct::resource where() const override { return where_; }
    ucs::config::source config() const override { return config_; }

private:
    ucs::config::source config_ = ucs::config::source::empty();
    const uct::component* transport_ = nullptr;
    uct::resource where_;
};

// A transport on the device with some settings, two of its interfaces, and what they send.
template<class Transport>
struct two_sides {
    explicit two_sides(std::initializer_list<setting> settings = {}) : where(settings) {}
    // Sends a short message of the first side.
    ucs_status_t try_short(uct::ep& via, tag id) {
        return out.try_send(a, via, uct::op::am_short, 1, make_message(id, 16));
    }
    [[nodiscard]] bool send_short(uct::ep& via, tag id) {
        return out.send(a, via, uct::op::am_short, 1, make_message(id, 16));
    }
    // Sends the only message of a stream, and waits for it.
    void check_message(uct::ep& via, side& to, std::uint32_t stream) {
        REQUIRE(send_short(via, {stream, 0}));
        REQUIRE(net.run_until([&] { return to.count(stream) == 1; }));
    }

    Transport where;
    network net{where};
    side& a{net.at(0)};
    side& b{net.at(1)};
    sender out{net};
};

inline unsigned long number_in(side& side, std::string_view path) {
    return std::stoul(vfs_text(side.iface(), path));
}

inline bool in_order(const side& receiver, std::uint32_t stream, std::uint32_t count) {
    std::uint32_t next = 0;
    for (const received& each : receiver.inbox) {
        const tag id = tag_of(each.data);
        if (id.stream == stream && id.number != next++) return false;
    }
    return next == count;
}

// Waits until the condition is true, for at most a minute: the device works concurrently and may be
// late on a busy machine.
template<class Done>
[[nodiscard]] bool becomes_true(const Done& done) {
    const ucs::time::nanoseconds end = ucs::time::now() + 60 * ucs::time::second;
    while (!done()) {
        if (ucs::time::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

// Progresses this side alone until its only endpoint fails.
inline const failure& only_failure(side& receiver) {
    static_cast<void>(
        becomes_true([&] { return receiver.progress(), !receiver.failures.empty(); }));
    REQUIRE(receiver.failures.size() == 1);
    return receiver.failures.front();
}

inline void flush(network& net, uct::ep& via) {
    finish(net, [&](uct::completion* done) { return via.flush(done); });
}

}  // namespace conformance
