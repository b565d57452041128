// What a port of an RDMA device can do, from the numbers that verbs give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "uct/ib/base/verbs_library.hpp"

namespace uct::ib {

// Payload of one packet in bytes; 0: no such code.
[[nodiscard]] std::size_t mtu_bytes(ibv_mtu code) noexcept;
// The largest code whose payload is at most so long; IBV_MTU_256 below the least.
[[nodiscard]] ibv_mtu mtu_code(std::size_t bytes) noexcept;

// Bytes per second of payload that a link of this width and speed carries, with its encoding taken
// off (InfiniBand Architecture Specification, volume 2, chapter 5); 0: unknown codes.
[[nodiscard]] double link_bandwidth(std::uint8_t width_code, std::uint8_t speed_code) noexcept;

// Bytes of headers in front of a packet's payload and behind it: how much of the link is left for
// data depends on the MTU.
[[nodiscard]] std::size_t packet_overhead(bool ethernet) noexcept;

// What sending over a port costs, by which transports are chosen. Times in seconds, bytes per
// second.
struct port_cost {
    double latency;    // half a round trip of a small message
    double bandwidth;  // of payload
    double overhead;   // the processor's time per message
};
struct port_facts {
    std::uint8_t width_code;
    std::uint8_t speed_code;
    ibv_mtu mtu;
    bool ethernet;
    bool software;  // the kernel makes every packet
};
[[nodiscard]] port_cost estimate(const port_facts& of) noexcept;

// "ACTIVE" is usable; else why not, in words.
[[nodiscard]] std::string why_port_unusable(const ibv_port_attr& port);

// A retransmission timer as verbs have it, 4.096 us times two to the power of the code: the least
// that is no shorter than so many seconds; 0 is "never".
[[nodiscard]] std::uint8_t timeout_code(double seconds) noexcept;
// A receiver-not-ready timer: the table of the specification (volume 1, 9.7.5.2.8), rounded up.
[[nodiscard]] std::uint8_t rnr_timer_code(double seconds) noexcept;

}  // namespace uct::ib
