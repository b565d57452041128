// Writes to memory that a peer may read at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ucs/arch/copy.hpp"

namespace ucp {

namespace detail {
template<class Word>
inline void store_word(std::byte*& to, const std::byte*& from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
    __asm__ volatile("" ::: "memory");  // otherwise compilers may turn the loop into a memcpy
    to += sizeof word;
    from += sizeof word;
}
}  // namespace detail

constexpr std::size_t stored_once = 64;  // bytes

// Copies like memcpy, but up to `stored_once` bytes each byte is stored exactly once, in ascending
// order. memcpy stores some bytes twice, and a peer may have written its reply to the same place in
// between. A number of 1, 2, 4 or 8 bytes is stored as a whole.
inline void store_once(void* destination, const void* source, std::size_t length) noexcept {
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    if (length == 8) [[likely]] {
        detail::store_word<std::uint64_t>(to, from);
        return;
    }
    if (length > stored_once) {
        ucs::arch::copy(destination, source, length);
        return;
    }
    for (std::size_t words = length / 8; words > 0; --words)
        detail::store_word<std::uint64_t>(to, from);
    if ((length & 4) != 0) detail::store_word<std::uint32_t>(to, from);
    if ((length & 2) != 0) detail::store_word<std::uint16_t>(to, from);
    if ((length & 1) != 0) *to = *from;
}

}  // namespace ucp
