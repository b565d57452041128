// Test fixture: workers on a simulated network, each with one interface.
#pragma once

#include "test/support/uct_side.hpp"
#include "uct/sim/component.hpp"

namespace sim_fixture {

struct counting_completion : uct::completion {
    unsigned times = 0;
    counting_completion()
        : uct::completion{
              .done = [](uct::completion& c) { ++static_cast<counting_completion&>(c).times; }} {}
};

struct worker : test::uct_side {
    worker(uct::sim::fabric& network, std::uint64_t uid)
        : worker(uct::sim::sim_component(network), uid) {}
    worker(const uct::component& transport, std::uint64_t uid)
        : uct_side(transport, transport.query(ucs::config::source::empty()).usable.front(),
                   ucs::config::source::empty(), {.worker_uid = uid}) {}

    // A paired endpoint waits for its partner.
    [[nodiscard]] ucs::result<std::unique_ptr<uct::ep>> try_connect(const worker& to) {
        return iface->create_ep(to.address());
    }
};

}  // namespace sim_fixture
