// Copying memory with and without leaving it in the cache.
#pragma once

#include <cstddef>
#include <cstring>

namespace ucs::arch {

// Copies with stores that go past the caches: for bytes that this core does not read again soon
// and that would push out what it does. Uses the widest vectors of the processor, found on first
// use. The stores are ordered before every later store when it returns. Any thread.
void copy_nontemporal(void* to, const void* from, std::size_t size) noexcept;

// From this size on copy() goes past the caches: three quarters of the last level cache's part of
// this core. A smaller destination is likely to be read from the cache by whoever wants it next,
// and then streaming stores cost twice; a larger one pushes itself out before anyone reads it, and
// then ordinary stores pay a needless read of every destination line.
[[nodiscard]] std::size_t nontemporal_threshold() noexcept;

namespace detail {
void copy_large(void* to, const void* from, std::size_t size) noexcept;
inline constexpr std::size_t never_large = 256 * 1024;
}  // namespace detail

// Copies like memcpy. Below 256 KB it is memcpy: no threshold is that small. Any thread.
inline void copy(void* to, const void* from, std::size_t size) noexcept {
    if (size < detail::never_large) {
        std::memcpy(to, from, size);
    } else {
        detail::copy_large(to, from, size);
    }
}

}  // namespace ucs::arch
