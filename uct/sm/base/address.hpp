// Wire format of the addresses of shared memory transports.
//
// Numbers are in native byte order, because readers are on the host that wrote the address, or find
// by `host` that it is foreign. Version rule: byte 0 is the version, a reader accepts only its own.
//
// posix, 56 bytes                         cma, 40 bytes
//   0  u8   version (3)                     0  u8   version (3)
//   1  u8   flags: 1, may sleep             1  u8   zero [3]
//   2  u8   zero [2]
//   4  u32  pid                             4  u32  pid
//   8  u64  host                            8  u64  host
//  16  u64  socket id                      16  u64  address of the cookie
//  24  u32  net namespace                  24  u64  value of the cookie
//  28  u32  user namespace                 32  u32  pid namespace
//  32  u32  user id                        36  u32  zero
//  36  u32  pid namespace
//  40  u8   secret [16]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace uct::sm {

inline constexpr std::uint8_t address_version = 3;

// Names the listening socket of a posix interface.
struct posix_address {
    // The interface's worker may sleep, so senders must check whether they have to wake it.
    static constexpr std::uint8_t may_sleep = 1;

    std::uint8_t version = address_version;
    std::uint8_t flags = 0;
    std::uint8_t zero[2] = {};
    std::uint32_t pid = 0;
    std::uint64_t host = 0;
    std::uint64_t socket_id = 0;
    std::uint32_t net_namespace = 0;
    std::uint32_t user_namespace = 0;
    std::uint32_t uid = 0;
    std::uint32_t pid_namespace = 0;
    // The secret of the interface, known only to processes that have its address. Both sides of a
    // connection prove that they know it (uct/sm/posix/wire.hpp).
    std::array<std::byte, 16> secret{};
};

// Names the process whose memory a cma interface offers, with a cookie that identifies it.
struct cma_address {
    std::uint8_t version = address_version;
    std::uint8_t zero[3] = {};
    std::uint32_t pid = 0;
    std::uint64_t host = 0;
    std::uint64_t cookie_at = 0;
    std::uint64_t cookie = 0;
    std::uint32_t pid_namespace = 0;
    std::uint32_t zero_tail = 0;
};

static_assert(sizeof(posix_address) == 56 &&
              std::has_unique_object_representations_v<posix_address>);
static_assert(sizeof(cma_address) == 40 && std::has_unique_object_representations_v<cma_address>);

// Return the parsed address, or nothing if it is malformed or of another version. Pure; any thread.
[[nodiscard]] std::optional<posix_address> parse_posix_address(std::span<const std::byte> from);
[[nodiscard]] std::optional<cma_address> parse_cma_address(std::span<const std::byte> from);

}  // namespace uct::sm
