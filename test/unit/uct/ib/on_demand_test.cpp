#include "uct/ib/base/memory/on_demand.hpp"

#include <catch2/catch.hpp>

using uct::ib::missing_on_demand;

namespace {

constexpr std::uint32_t everything =
    IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;

ibv_odp_caps caps(std::uint32_t rc, std::uint32_t ud) {
    return {.general_caps = IBV_ODP_SUPPORT,
            .per_transport_caps = {.rc_odp_caps = rc, .uc_odp_caps = 0, .ud_odp_caps = ud}};
}

}  // namespace

TEST_CASE("memory is paged on demand if the device supports all operations") {
    CHECK(missing_on_demand(caps(everything, IBV_ODP_SUPPORT_SEND), true).empty());
    CHECK(
        missing_on_demand(
            caps(everything & ~std::uint32_t{IBV_ODP_SUPPORT_ATOMIC}, IBV_ODP_SUPPORT_SEND), false)
            .empty());
}

TEST_CASE("operations that a device cannot page on demand are named") {
    CHECK(missing_on_demand({}, false) == "all of it");
    ibv_odp_caps silent = caps(everything, everything);
    silent.general_caps = IBV_ODP_SUPPORT_IMPLICIT;
    CHECK(missing_on_demand(silent, false) == "all of it");
    CHECK(missing_on_demand(caps(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_READ, 0), true) ==
          "RC: write, RC: atomic, UD: send");
    CHECK(missing_on_demand(caps(everything, 0), true) == "UD: send");
}
