#include "uct/ib/base/device/port.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace uct::ib {
namespace {

struct speed {
    std::uint8_t code;
    double gigabits;  // of one lane, including the encoding
    double payload;   // fraction of the bits that remains after the encoding
    double latency;   // of cards of that generation, in seconds
};
constexpr double eight_of_ten = 0.8;
constexpr double fec = 64.0 / 66.0;
constexpr std::array<speed, 8> speeds{{{1, 2.5, eight_of_ten, 4e-6},
                                       {2, 5, eight_of_ten, 2.5e-6},
                                       {4, 10, eight_of_ten, 1.5e-6},
                                       {8, 10.3125, fec, 1.1e-6},
                                       {16, 14.0625, fec, 1.1e-6},
                                       {32, 25.78125, fec, 0.9e-6},
                                       {64, 53.125, fec, 0.9e-6},
                                       {128, 106.25, fec, 0.9e-6}}};

const speed* find_speed(std::uint8_t code) noexcept {
    for (const speed& each : speeds) {
        if (each.code == code) return &each;
    }
    return nullptr;
}

unsigned lanes(std::uint8_t width_code) noexcept {
    switch (width_code) {
        case 1:
            return 1;
        case 2:
            return 4;
        case 4:
            return 8;
        case 8:
            return 12;
        case 16:
            return 2;
        default:
            return 0;
    }
}

// Milliseconds of the codes 1 to 31; code 0 is the longest.
constexpr std::array<double, 31> rnr_milliseconds{
    0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,  0.48,
    0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36, 20.48,
    30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};

}  // namespace

std::size_t mtu_bytes(ibv_mtu code) noexcept {
    if (code < IBV_MTU_256 || code > IBV_MTU_4096) return 0;
    return std::size_t{128} << static_cast<unsigned>(code);
}

ibv_mtu mtu_code(std::size_t bytes) noexcept {
    int code = IBV_MTU_4096;
    while (code > IBV_MTU_256 && mtu_bytes(static_cast<ibv_mtu>(code)) > bytes)
        --code;
    return static_cast<ibv_mtu>(code);
}

double link_bandwidth(std::uint8_t width_code, std::uint8_t speed_code) noexcept {
    const speed* const known = find_speed(speed_code);
    return known == nullptr ? 0 : lanes(width_code) * known->gigabits * 1e9 / 8 * known->payload;
}

std::size_t packet_overhead(bool ethernet) noexcept {
    constexpr std::size_t base_header = 12, extended_header = 16, checksum = 4;
    constexpr std::size_t infiniband = 8 + 2;       // local route header, link checksum
    constexpr std::size_t frame = 8 + 14 + 4 + 12;  // preamble, Ethernet, gap
    constexpr std::size_t routed = frame + 20 + 8;  // IPv4 and UDP
    return base_header + extended_header + checksum + (ethernet ? routed : infiniband);
}

port_cost estimate(const port_facts& facts) noexcept {
    const auto payload = static_cast<double>(mtu_bytes(facts.mtu));
    const auto around = static_cast<double>(packet_overhead(facts.ethernet));
    const double link =
        link_bandwidth(facts.width_code, facts.speed_code) * payload / (payload + around);
    if (facts.software) {
        // A system call for each doorbell, the kernel's network stack for each packet on both
        // sides, and a checksum over all of it; slower than its own tcp.
        constexpr double per_packet = 4e-6;
        return {20e-6, std::min(link, payload / per_packet), 4e-6};
    }
    constexpr double of_ethernet = 0.4e-6;
    const speed* const known = find_speed(facts.speed_code);
    const double latency = known != nullptr ? known->latency : speeds.back().latency;
    return {latency + (facts.ethernet ? of_ethernet : 0), link, 75e-9};
}

std::string why_port_unusable(const ibv_port_attr& port) {
    if (port.state == IBV_PORT_ACTIVE) return {};
    return std::string("the port is ") + ibv_port_state_str(port.state);
}

std::uint8_t timeout_code(double seconds) noexcept {
    constexpr double unit = 4.096e-6;
    constexpr std::uint8_t longest = 31;
    if (!(seconds > 0)) return 1;
    if (std::isinf(seconds)) return 0;
    std::uint8_t code = 1;
    while (code < longest && std::ldexp(unit, code) < seconds)
        ++code;
    return code;
}

std::uint8_t rnr_timer_code(double seconds) noexcept {
    for (std::size_t i = 0; i < rnr_milliseconds.size(); ++i) {
        if (rnr_milliseconds[i] >= seconds * 1e3) return static_cast<std::uint8_t>(i + 1);
    }
    return 0;
}

}  // namespace uct::ib
