// Packed key by which processes of the same host access device memory.
//
// Layout, native byte order, 124 bytes:
//    0  u64  address of the first byte of the allocation, as its owner has it
//    8  u64  length of the allocation
//   16  u64  offset of the shared memory in the allocation
//   24  u64  length of the shared memory
//   32  u64  number of the allocation: the driver's buffer id, or that of the export
//   40  u64  random number of the owner's process (uct/cuda/base/address.hpp)
//   48  u64  number of the device (device::number())
//   56  u8   handle [64]: kind 0: the driver's handle of the allocation
//            kind 1, memory without such a handle: u64 socket id, u64 number of the export, u8
//            secret [16], u8 zero [32]. uct/cuda/ipc/broker_wire.hpp says how a peer gets it.
//  120  u8   version (1)
//  121  u8   kind
//  122  u8   access: 0 read, 1 read and change
//  123  u8   zero
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "uct/api/memory.hpp"

namespace uct::cuda {

using handle_bytes = std::array<std::byte, 64>;
using export_secret = std::array<std::byte, 16>;

// Names an export of an owner, see uct/cuda/ipc/broker.hpp.
struct export_name {
    std::uint64_t socket_id = 0;
    std::uint64_t number = 0;
    export_secret secret{};

    [[nodiscard]] handle_bytes pack() const noexcept;
    [[nodiscard]] static export_name unpack(const handle_bytes& from) noexcept;
    friend bool operator==(const export_name&, const export_name&) = default;
};

// A plain value.
struct ipc_key {
    static constexpr std::size_t size = 124;
    enum class kind : std::uint8_t { legacy, exported };

    std::uint64_t base = 0;
    std::uint64_t base_length = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t buffer_id = 0;
    std::uint64_t owner = 0;
    std::uint64_t device = 0;
    handle_bytes handle{};
    kind type = kind::legacy;
    memory_access allowed = memory_access::read;

    [[nodiscard]] std::vector<std::byte> pack() const;
    // Returns nothing if the untrusted bytes are malformed, or of another version. The shared
    // memory is part of the allocation, and no address wraps around.
    [[nodiscard]] static std::optional<ipc_key> parse(std::span<const std::byte> from) noexcept;

    friend bool operator==(const ipc_key&, const ipc_key&) = default;
};

}  // namespace uct::cuda
