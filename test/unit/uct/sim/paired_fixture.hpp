// Test fixture: two workers with paired endpoints.
#pragma once

#include "test/unit/uct/sim/fixture.hpp"
#include "uct/sim/driver.hpp"

namespace sim_fixture {

using bytes = std::vector<std::byte>;

inline bytes connection_of(const worker& owner, const uct::ep& ep) {
    bytes data(owner.iface->attr().connection_length);
    ep.pack_connection(data);
    return data;
}

// Two workers, each with an endpoint to the other that is not connected to its partner yet.
struct network {
    explicit network(std::uint64_t seed, const uct::sim::parameters& options = {})
        : net(seed, options) {
        for (worker* each : {&a, &b})
            loop.add([each] { return each->iface->progress(); });
    }

    [[nodiscard]] ucs_status_t connect_a() { return there->connect_to(connection_of(b, *back)); }
    [[nodiscard]] ucs_status_t connect_b() { return back->connect_to(connection_of(a, *there)); }
    void connect() {
        REQUIRE(connect_a() == UCS_OK);
        REQUIRE(connect_b() == UCS_OK);
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

inline std::vector<std::uint64_t> numbers(const worker& owner) {
    std::vector<std::uint64_t> all;
    for (const std::string& message : owner.inbox)
        std::memcpy(&all.emplace_back(), message.data(), sizeof all.back());
    return all;
}

// Time after which a message that no partner accepts has been given up.
inline ucs::time::nanoseconds give_up_time(const uct::sim::fabric& net) {
    const auto& pairs = net.network().paired;
    return (pairs.retransmissions + 2) * pairs.retransmission_time;
}

}  // namespace sim_fixture
