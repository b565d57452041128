// Packed form of the name of a memory block. Memory keys contain it, and with it other processes of
// the host find the block.
//
// offset  bytes
//  0      8      host
//  8      8      tag
// 16      4      process id namespace
// 20      4      process id
// 24      4      file descriptor in that process
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "uct/sm/memory/shared_block.hpp"

namespace uct::sm {

inline constexpr std::size_t packed_name_size = 28;
using packed_name = std::array<std::byte, packed_name_size>;

namespace detail {
// Consists of 4-byte words: members of 8 bytes would pad the struct to a multiple of 8.
struct name_words {
    std::array<std::uint32_t, 2> host;
    std::array<std::uint32_t, 2> tag;
    std::uint32_t pid_namespace;
    std::uint32_t pid;
    std::uint32_t fd;
};
static_assert(sizeof(name_words) == packed_name_size);
}  // namespace detail

[[nodiscard]] inline packed_name pack(const block_name& name) noexcept {
    using halves = std::array<std::uint32_t, 2>;
    return std::bit_cast<packed_name>(detail::name_words{std::bit_cast<halves>(name.host),
                                                         std::bit_cast<halves>(name.tag),
                                                         name.pid_namespace, name.pid, name.fd});
}

// The bytes come from a peer and are not checked, so the resulting name is untrusted, too.
[[nodiscard]] inline block_name unpack(const packed_name& bytes) noexcept {
    const auto words = std::bit_cast<detail::name_words>(bytes);
    return {std::bit_cast<std::uint64_t>(words.host), std::bit_cast<std::uint64_t>(words.tag),
            words.pid_namespace, words.pid, words.fd};
}

}  // namespace uct::sm
