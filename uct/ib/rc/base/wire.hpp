// Wire format of reliable connections.
//
// A message is one SEND:
//   0  u8   bits 0 to 4: active message id; bits 5 to 7: flow (flow_window.hpp)
//   1  ...  the message
// A SEND with immediate data is a control message. Its immediate, in network byte order, holds flow
// bits and the goodbye (bit 3): the sender's endpoint is closed, and nothing follows.
//
// Connection data, which two endpoints exchange out of band before they connect, 24 bytes,
// little-endian:
//   0  u32  number of the queue pair (24 bits)
//   4  u32  number of its first packet (24 bits)
//   8  u32  ECE vendor      enhanced connection establishment, all 0: none
//   12 u32  ECE options
//   16 u32  ECE mask
//   20 u8   version, now 1
//   21 u8   path MTU, a code of verbs
//   22 u16  0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace uct::rc::wire {

inline constexpr unsigned flow_shift = 5;
inline constexpr std::size_t header_size = 1;
inline constexpr std::uint32_t goodbye = 1U << 3;

struct connection_data {
    static constexpr std::size_t size = 24;

    std::uint32_t qp_number = 0;
    std::uint32_t first_packet = 0;
    std::uint32_t ece_vendor = 0;
    std::uint32_t ece_options = 0;
    std::uint32_t ece_mask = 0;
    std::uint8_t mtu = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<connection_data> parse(
        std::span<const std::byte> from) noexcept;
    friend bool operator==(const connection_data&, const connection_data&) = default;
};

}  // namespace uct::rc::wire
