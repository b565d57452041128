// Tests the log line about an unreachable worker: it lists every transport with the reason why it
// is not used.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/core/listed_component.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"

using namespace ucp_test;

TEST_CASE("the line about an unreachable worker lists every transport with its reason") {
    const test::log_capture log;
    uct::sim::fabric network(1, {});
    const uct::sim::sim_component sim(network);
    const listed_component broken(
        "broken",
        {{{"broken", "dev0", uct::device_type::network}},
         {{"broken", "dev1", uct::device_type::network, "it has no cable"}}},
        UCS_ERR_NO_DEVICE);
    const listed_component unwanted("unwanted", {});
    const auto context = make_context({&sim, &broken, &unwanted}, {{"TLS", "^unwanted"}}, 0);
    const auto worker = ucp::worker::create(*context, {});
    REQUIRE(worker);
    ucp::address::worker_address nowhere;
    nowhere.identity[1] = std::byte{0x90};  // uid 9000
    nowhere.name = "far away";
    auto ep = ucp::wireup::create_ep(**worker, ucp::address::pack(nowhere, false).data(), {});
    REQUIRE(ep);
    CHECK(ucp::slot_of<ucp::wireup::lane_setup>((*ep)->remote()).connect() == UCS_ERR_UNREACHABLE);
    INFO(log.text());
    CHECK(log.count("worker 9000 (far away) is unreachable") == 1);
    for (const char* reason :
         {"sim/node: not used, the peer does not offer this transport",
          "broken/dev0: not used, it could not be opened: No such device",
          "broken/dev1: not used, it has no cable", "unwanted/*: not used, excluded by UCX_TLS"}) {
        CAPTURE(reason);
        CHECK(log.count(reason) == 1);
        CHECK(ucp::wireup::explain(**ep).find(reason) != std::string::npos);
    }
}
