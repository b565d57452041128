// Capabilities and costs of a port of an RDMA device, from the numbers of verbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::ib {

// Returns the payload of one packet in bytes; 0 if the code is unknown.
[[nodiscard]] std::size_t mtu_bytes(ibv_mtu code) noexcept;
// Returns the largest code whose payload is at most so long, or IBV_MTU_256 if none is.
[[nodiscard]] ibv_mtu mtu_code(std::size_t bytes) noexcept;

// Returns the payload bytes per second of a link of this width and speed, without its encoding
// (InfiniBand Architecture Specification, volume 2, chapter 5); 0 if the codes are unknown.
[[nodiscard]] double link_bandwidth(std::uint8_t width_code, std::uint8_t speed_code) noexcept;

// Returns the bytes of headers and trailers of a packet. With the MTU they determine the part of
// the link that is left for data.
[[nodiscard]] std::size_t packet_overhead(bool ethernet) noexcept;

// Cost of sending over a port, by which transports are chosen. Times in seconds, bytes per second.
struct port_cost {
    double latency;    // half a round trip of a small message
    double bandwidth;  // of payload
    double overhead;   // processor time per message
};
struct port_facts {
    std::uint8_t width_code;
    std::uint8_t speed_code;
    ibv_mtu mtu;
    bool ethernet;
    bool software;  // the kernel builds every packet
};
[[nodiscard]] port_cost estimate(const port_facts& facts) noexcept;

// Returns an empty text if the port is ACTIVE, otherwise the reason why it is unusable.
[[nodiscard]] std::string why_port_unusable(const ibv_port_attr& port);

// Returns the code of a retransmission timer (4.096 us times two to the power of the code): the
// shortest one that is not shorter than so many seconds. 0 means "never".
[[nodiscard]] std::uint8_t timeout_code(double seconds) noexcept;
// Returns the code of a receiver-not-ready timer, from the table of the specification (volume 1,
// 9.7.5.2.8), rounded up.
[[nodiscard]] std::uint8_t rnr_timer_code(double seconds) noexcept;

}  // namespace uct::ib
