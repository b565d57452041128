#include "uct/ib/base/port.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace uct::ib;

TEST_CASE("path MTUs have codes") {
    CHECK(mtu_bytes(IBV_MTU_256) == 256);
    CHECK(mtu_bytes(IBV_MTU_4096) == 4096);
    CHECK(mtu_bytes(static_cast<ibv_mtu>(0)) == 0);
    CHECK(mtu_bytes(static_cast<ibv_mtu>(6)) == 0);
    CHECK(mtu_code(4096) == IBV_MTU_4096);
    CHECK(mtu_code(4095) == IBV_MTU_2048);
    CHECK(mtu_code(1) == IBV_MTU_256);
}

TEST_CASE("the bandwidth of a link is what its encoding leaves") {
    CHECK(link_bandwidth(2, 4) == Approx(4e9));      // 4x QDR: 32 Gb/s of data
    CHECK(link_bandwidth(2, 32) == Approx(12.5e9));  // 4x EDR: 100 Gb/s
    CHECK(link_bandwidth(1, 1) == Approx(2.5e9 / 8 * 0.8));
    CHECK(link_bandwidth(3, 32) == 0);
    CHECK(link_bandwidth(2, 3) == 0);
}

TEST_CASE("timers are rounded up to what a device has") {
    CHECK(timeout_code(4.096e-6 * 2) == 1);
    CHECK(timeout_code(1) == 18);
    CHECK(std::ldexp(4.096e-6, timeout_code(0.06)) >= 0.06);
    CHECK(std::ldexp(4.096e-6, timeout_code(0.06) - 1) < 0.06);
    CHECK(timeout_code(1e9) == 31);
    CHECK(timeout_code(std::numeric_limits<double>::infinity()) == 0);
    CHECK(timeout_code(0) == 1);
    CHECK(rnr_timer_code(1e-5) == 1);
    CHECK(rnr_timer_code(1e-3) == 14);
    CHECK(rnr_timer_code(0.4915) == 31);
    CHECK(rnr_timer_code(0.6) == 0);  // the longest has code 0
}
