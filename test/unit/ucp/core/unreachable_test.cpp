// Tests the log line about an unreachable worker: it lists every transport with the reason why it
// is not used.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "ucp/address/address.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "uct/sim/component.hpp"

namespace {

// A component whose first device is usable but cannot be opened, and whose second device is not
// usable.
class broken_component final : public uct::component {
public:
    const char* name() const noexcept override { return "broken"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    uct::listing query(const ucs::config::source&) const override {
        return {{{"broken", "dev0", uct::device_type::network}},
                {{"broken", "dev1", uct::device_type::network, "it has no cable"}}};
    }
    ucs::result<std::unique_ptr<uct::iface>> open(const uct::resource&,
                                                  const uct::iface_params&) const override {
        return UCS_ERR_NO_DEVICE;
    }
};

class excluded_component final : public uct::component {
public:
    const char* name() const noexcept override { return "unwanted"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    uct::listing query(const ucs::config::source&) const override { return {}; }
    ucs::result<std::unique_ptr<uct::iface>> open(const uct::resource&,
                                                  const uct::iface_params&) const override {
        return UCS_ERR_UNSUPPORTED;
    }
};

}  // namespace

TEST_CASE("the line about an unreachable worker lists every transport with its reason") {
    const test::log_capture log;
    uct::sim::fabric network(1, {});
    const uct::sim::sim_component sim(network);
    const broken_component broken;
    const excluded_component unwanted;
    const uct::component* all[] = {&sim, &broken, &unwanted};
    ucs::config::source source = ucs::config::source::empty();
    source.set("HOST_PROBE", "n");
    source.set("TLS", "^unwanted");
    const auto context = ucp::context::create({}, std::move(source), all);
    REQUIRE(context);
    const auto worker = ucp::worker::create(**context, {});
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
