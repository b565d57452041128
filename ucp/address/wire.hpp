// Byte layout of a packed worker address.
//
// Version rule: the first ten bytes mean the same in every version. A reader accepts its own
// version only; any change of the following bytes raises the version. Numbers are little endian.
//
//   header   0  2  magic            48 57
//            2  1  version          2
//            3  1  header check     xor of bytes 0-2 and 4-5 with a5: a damaged length is noticed
//                                   before anything is read by it
//            4  2  total length     of the address, header included, at most 1024
//            6  4  CRC32C           of everything else: bytes 0-5, then 10 up to the total length
//   worker  10 32  public key       X25519; its first 8 bytes are the worker's uid. The highest bit
//                                   is 0: X25519 ignores it, and a worker has one key
//           42  1+ flags            7 bits a byte, lowest first, bit 7 set on all but the last
//               1  name length      0-31
//               .  name             no control characters
//               1  entries          0-255
//   entry       1  scope and transport: bits 6-7 scope (0 process, 1 host, 2 network), bits 0-5
//                                   number of a known name (dictionary.hpp), or 0: a name follows
//               .  transport name   only if the number was 0: length 1-15, then that many bytes
//               1  device           number of a known name, or 0: a name follows
//               .  device name      as above, length 0-15
//               2  latency          each number is a float without sign and its last 15 bits of
//               2  bandwidth        fraction: bits 15-30 of the IEEE single
//               2  overhead
//               1  address length   0-255
//               .  address          of the transport's interface
//
// The last entry ends at the total length. Names of transports and devices are printable ASCII
// without blanks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ucp::address::wire {

inline constexpr std::uint8_t magic[2] = {0x48, 0x57};
inline constexpr std::uint8_t version = 2;
inline constexpr std::uint8_t check_seed = 0xa5;

inline constexpr std::size_t version_at = 2;
inline constexpr std::size_t check_at = 3;
inline constexpr std::size_t length_at = 4;
inline constexpr std::size_t crc_at = 6;
inline constexpr std::size_t header_size = 10;

inline constexpr unsigned scope_shift = 6;
inline constexpr std::uint8_t known_name_mask = 0x3f;
inline constexpr std::uint8_t literal_name = 0;
inline constexpr std::uint16_t largest_number = 0xfeff;  // larger numbers are infinity and NaN

// Returns the check byte of a header of at least length_at + 2 bytes.
[[nodiscard]] constexpr std::uint8_t header_check(std::span<const std::byte> header) noexcept {
    const std::byte sum = header[0] ^ header[1] ^ header[version_at] ^ header[length_at] ^
                          header[length_at + 1] ^ std::byte{check_seed};
    return std::to_integer<std::uint8_t>(sum);
}

// Returns the CRC32C of an address without its stored checksum.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> address) noexcept;

// Converts a non-negative float to 16 bits and back. Rounds to the nearest value; too large numbers
// become the largest.
[[nodiscard]] constexpr std::uint16_t encode_number(float value) noexcept {
    constexpr std::uint32_t dropped = 15;
    if (!(value > 0)) return 0;
    const std::uint32_t rounded =
        (std::bit_cast<std::uint32_t>(value) + (1U << (dropped - 1))) >> dropped;
    return static_cast<std::uint16_t>(rounded < largest_number ? rounded : largest_number);
}
[[nodiscard]] constexpr float decode_number(std::uint16_t bits) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 15);
}

}  // namespace ucp::address::wire
