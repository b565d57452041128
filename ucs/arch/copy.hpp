// Copies memory through the caches or past them.
#pragma once

#include <cstddef>
#include <cstring>

namespace ucs::arch {

// Copies with non-temporal stores, which bypass the caches: for data that this core does not read
// again soon and that would evict data in use. Uses the widest vectors of the processor, detected
// on first use. When it returns, its stores are ordered before every later store. Any thread.
void copy_nontemporal(void* to, const void* from, std::size_t size) noexcept;

// The size from which copy() bypasses the caches: three quarters of this core's share of the last
// level cache. The next reader of a smaller destination probably finds it in the cache, so
// streaming stores would cost twice. A larger destination evicts itself before it is read, so
// ordinary stores would waste a read of every destination line.
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
