// What programs share that bring a transport on the first device to its limits.
#pragma once

#include <catch2/catch.hpp>
#include <thread>

#include "test/conformance/support/described.hpp"
#include "test/conformance/support/reached.hpp"
#include "test/conformance/support/sender.hpp"
#include "ucs/time/clock.hpp"
#include "uct/base/registry.hpp"

namespace conformance {

struct setting {
    const char* name;
    const char* text;
};

class on_device : public environment {
public:
    // `usual` gives way to `settings`.
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

inline bool in_order(const side& at, std::uint32_t stream, std::uint32_t count) {
    std::uint32_t next = 0;
    for (const received& each : at.inbox) {
        const tag who = tag_of(each.data);
        if (who.stream == stream && who.number != next++) return false;
    }
    return next == count;
}

// Asks until it is so, for a minute at most: the device works beside the program, and on a busy
// machine it is late.
template<class Done>
[[nodiscard]] bool becomes_true(const Done& done) {
    const ucs::time::nanoseconds end = ucs::time::now() + 60 * ucs::time::second;
    while (!done()) {
        if (ucs::time::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

// Lets this side alone progress until its endpoint fails, which is the only one that does.
inline const failure& only_failure(side& at) {
    static_cast<void>(becomes_true([&] { return at.progress(), !at.failures.empty(); }));
    REQUIRE(at.failures.size() == 1);
    return at.failures.front();
}

inline void flush(network& net, uct::ep& via) {
    finish(net, [&](uct::completion* done) { return via.flush(done); });
}

}  // namespace conformance
