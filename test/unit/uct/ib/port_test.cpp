#include "uct/ib/base/device/port.hpp"

#include <catch2/catch.hpp>
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

TEST_CASE("the bandwidth of a link excludes its encoding") {
    CHECK(link_bandwidth(2, 4) == Approx(4e9));      // 4x QDR: 32 Gb/s of data
    CHECK(link_bandwidth(2, 32) == Approx(12.5e9));  // 4x EDR: 100 Gb/s
    CHECK(link_bandwidth(1, 1) == Approx(2.5e9 / 8 * 0.8));
    CHECK(link_bandwidth(3, 32) == 0);
    CHECK(link_bandwidth(2, 3) == 0);
}

TEST_CASE("the cost of a port follows from its speed, its packets and software overhead") {
    const auto cost = [](std::uint8_t speed, bool ethernet, bool software,
                         ibv_mtu mtu = IBV_MTU_4096) {
        return estimate({2, speed, mtu, ethernet, software});
    };
    const port_cost edr = cost(32, false, false);
    CHECK(edr.bandwidth < link_bandwidth(2, 32));
    CHECK(edr.bandwidth > link_bandwidth(2, 32) * 0.98);
    CHECK(cost(32, false, false, IBV_MTU_256).bandwidth < edr.bandwidth * 0.9);
    CHECK(cost(32, true, false).latency > edr.latency);
    CHECK(cost(1, false, false).latency > cost(4, false, false).latency);
    CHECK(cost(4, false, false).latency > edr.latency);
    CHECK(cost(99, false, false).latency == edr.latency);  // unknown code of a later card
    // Soft RoCE on the same link: neither latency nor bandwidth is the link's.
    const port_cost soft = cost(32, true, true);
    CHECK(soft.latency > 10 * edr.latency);
    CHECK(soft.overhead > 10 * edr.overhead);
    CHECK(soft.bandwidth < edr.bandwidth / 5);
    CHECK(cost(32, true, true, IBV_MTU_1024).bandwidth == Approx(soft.bandwidth / 4));
    CHECK(cost(1, true, true, IBV_MTU_1024).bandwidth < link_bandwidth(2, 1));
}

TEST_CASE("timers are rounded up to values of the device") {
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
