// Writing to memory that a peer looks at meanwhile.
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
    __asm__ volatile("" ::: "memory");  // else compilers may make a memcpy of the loop
    to += sizeof word;
    from += sizeof word;
}
}  // namespace detail

constexpr std::size_t stored_once = 64;  // bytes

// Copies like memcpy, but up to `stored_once` bytes each byte is stored once, in ascending order:
// memcpy stores some twice, and a peer may have answered in the same place in between. A number is
// stored as a whole.
inline void store_once(void* into, const void* source, std::size_t length) noexcept {
    auto* to = static_cast<std::byte*>(into);
    const auto* from = static_cast<const std::byte*>(source);
    if (length == 8) [[likely]] {
        detail::store_word<std::uint64_t>(to, from);
        return;
    }
    if (length > stored_once) {
        ucs::arch::copy(into, source, length);
        return;
    }
    for (std::size_t words = length / 8; words > 0; --words)
        detail::store_word<std::uint64_t>(to, from);
    if ((length & 4) != 0) detail::store_word<std::uint32_t>(to, from);
    if ((length & 2) != 0) detail::store_word<std::uint16_t>(to, from);
    if ((length & 1) != 0) *to = *from;
}

}  // namespace ucp
