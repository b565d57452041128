// Copying a few bytes without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ucs::memory {

namespace detail {
struct block16 {
    std::uint64_t low, high;
};

template<class Word>
inline void copy_ends(std::byte* into, const std::byte* from, std::size_t length) noexcept {
    Word first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + length - sizeof last, sizeof last);
    std::memcpy(into, &first, sizeof first);
    std::memcpy(into + length - sizeof last, &last, sizeof last);
}
}  // namespace detail

// memcpy for length <= Max <= 64 by a few overlapping moves. The C library's function costs a call
// and a chain of branches, which is as much as the rest of a small send.
template<std::size_t Max>
inline void copy_small(void* to, const void* source, std::size_t length) noexcept {
    static_assert(Max <= 64);
    auto* into = static_cast<std::byte*>(to);
    const auto* from = static_cast<const std::byte*>(source);
    if (length >= 16) {
        detail::copy_ends<detail::block16>(into, from, length);
        if (length > 32) {
            std::memcpy(into + 16, from + 16, 16);
            std::memcpy(into + length - 32, from + length - 32, 16);
        }
    } else if (length >= 8) {
        detail::copy_ends<std::uint64_t>(into, from, length);
    } else if (length >= 4) {
        detail::copy_ends<std::uint32_t>(into, from, length);
    } else if (length > 0) {
        into[0] = from[0];
        into[length / 2] = from[length / 2];
        into[length - 1] = from[length - 1];
    }
}

// memcpy for any length, without a call for the short ones.
inline void copy_bytes(void* to, const void* source, std::size_t length) noexcept {
    if (length <= 16) [[likely]] {
        copy_small<16>(to, source, length);
    } else {
        std::memcpy(to, source, length);
    }
}

}  // namespace ucs::memory
