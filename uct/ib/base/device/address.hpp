// Packed address of a port of an RDMA device.
//
// Layout, little-endian, 32 bytes:
//   0  u8   version, now 1
//   1  u8   link: 0 InfiniBand, 1 RoCE v1, 2 RoCE v2
//   2  u16  LID (InfiniBand; else 0)
//   4  u8   path MTU as a code of verbs (1 to 5)
//   5  u8   reads and atomics of a peer that are served at a time, per connection; never 0
//   6  u16  partition key
//   8  16   GID
//   24 u64  identity of the interface, random, never 0
// Peers whose addresses have another version are unreachable.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "uct/ib/base/device/gid.hpp"

namespace uct::ib {

// Bit of a partition key: a full member may talk to all members, a limited one only to full
// members.
inline constexpr std::uint16_t full_member = 0x8000;

struct address {
    static constexpr std::size_t size = 32;

    gid_type link = gid_type::infiniband;
    std::uint16_t lid = 0;
    std::uint8_t mtu = 0;
    std::uint8_t read_depth = 0;
    std::uint16_t pkey = 0;
    raw_gid gid{};
    std::uint64_t iface_id = 0;

    void pack(std::span<std::byte> into) const noexcept;  // `size` bytes
    [[nodiscard]] static std::optional<address> parse(std::span<const std::byte> from) noexcept;

    friend bool operator==(const address&, const address&) = default;
};

}  // namespace uct::ib
