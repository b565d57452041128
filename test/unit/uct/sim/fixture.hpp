// Test fixture: workers on a simulated network, each with one interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "uct/sim/component.hpp"
#include "uct/sim/paired_component.hpp"

namespace sim_fixture {

struct counting_completion : uct::completion {
    unsigned times = 0;
    counting_completion()
        : uct::completion{
              .done = [](uct::completion& c) { ++static_cast<counting_completion&>(c).times; }} {}
};

struct worker {
    worker(uct::sim::fabric& network, std::uint64_t uid)
        : worker(uct::sim::sim_component(network), uid) {}
    worker(const uct::component& transport, std::uint64_t uid)
        : events(std::move(*ucs::async::event_loop::create())),
          config(ucs::config::source::empty()) {
        iface =
            std::move(*transport.open(transport.query(config).usable.front(),
                                      {.events = *events, .config = config, .worker_uid = uid}));
        iface->set_am_handler(0, {.deliver =
                                      [](void* arg, void* data, std::size_t length) {
                                          auto& self = *static_cast<worker*>(arg);
                                          const auto* text = static_cast<const char*>(data);
                                          self.inbox.emplace_back(text, text + length);
                                      },
                                  .arg = this});
        iface->set_error_handler({.failed =
                                      [](void* arg, uct::ep&, ucs_status_t status) {
                                          static_cast<worker*>(arg)->failures.push_back(status);
                                      },
                                  .arg = this});
    }

    // A paired endpoint waits for its partner.
    [[nodiscard]] ucs::result<std::unique_ptr<uct::ep>> try_connect(const worker& to) {
        std::vector<std::byte> address(to.iface->attr().address_length);
        to.iface->pack_address(address);
        return iface->create_ep(address);
    }
    [[nodiscard]] std::unique_ptr<uct::ep> connect(const worker& to) {
        return std::move(*try_connect(to));
    }

    std::unique_ptr<ucs::async::event_loop> events;
    ucs::config::source config;
    std::unique_ptr<uct::iface> iface;
    std::vector<std::string> inbox;
    std::vector<ucs_status_t> failures;
};

}  // namespace sim_fixture
