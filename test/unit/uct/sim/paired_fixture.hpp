// Two workers whose endpoints come in pairs.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>

#include "test/unit/uct/sim/fixture.hpp"
#include "uct/sim/driver.hpp"

namespace sim_fixture {

using bytes = std::vector<std::byte>;

inline bytes connection_of(const worker& at, const uct::ep& of) {
    bytes data(at.iface->attr().connection_length);
    of.pack_connection(data);
    return data;
}

// Two workers, and an endpoint at each for the other that does not know it yet.
struct network {
    explicit network(std::uint64_t seed, const uct::sim::parameters& how = {}) : net(seed, how) {
        for (worker* each : {&a, &b})
            loop.add([each] { return each->iface->progress(); });
    }

    [[nodiscard]] ucs_status_t tell_a() { return there->connect_to(connection_of(b, *back)); }
    [[nodiscard]] ucs_status_t tell_b() { return back->connect_to(connection_of(a, *there)); }
    void connect() {
        REQUIRE(tell_a() == UCS_OK);
        REQUIRE(tell_b() == UCS_OK);
    }
    void let_run(ucs::time::nanoseconds time) {
        net.advance(time);
        for (worker* each : {&a, &b})
            while (each->iface->progress() > 0) {
            }
    }
    void finish() {
        const bool quiet = loop.run_until_quiet();
        INFO(loop.report());
        REQUIRE(quiet);
    }

    uct::sim::fabric net;
    const uct::sim::paired_component component{net};
    worker a{component, 1};
    worker b{component, 2};
    std::unique_ptr<uct::ep> there = a.connect(b);
    std::unique_ptr<uct::ep> back = b.connect(a);
    uct::sim::driver loop{net};
};

inline ucs_status_t send(uct::ep& via, std::uint64_t number) {
    return via.am_short(0, number, nullptr, 0);
}

inline std::vector<std::uint64_t> numbers(const worker& at) {
    std::vector<std::uint64_t> all;
    for (const std::string& message : at.inbox)
        std::memcpy(&all.emplace_back(), message.data(), sizeof all.back());
    return all;
}

// Time after which a message that nobody takes has been given up.
inline ucs::time::nanoseconds patience(const uct::sim::fabric& net) {
    const auto& pairs = net.network().paired;
    return (pairs.retransmissions + 2) * pairs.retransmission_time;
}

}  // namespace sim_fixture
