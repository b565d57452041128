// Address of a block in the address space of its owner, as a peer's key claims it.
#pragma once

#include <cstdint>

namespace uct::sm {

// The pages of every host have this size or a multiple of it.
inline constexpr std::uint64_t smallest_page = 4096;

// Returns true if a block can lie at that address: owners allocate blocks with mmap. Words that are
// aligned for the owner are aligned in the mapping of this process only if both begin with a page.
// On misaligned words a processor works slowly, not atomically, or not at all.
[[nodiscard]] constexpr bool is_possible_base(std::uint64_t owners_base) noexcept {
    return owners_base % smallest_page == 0;
}

}  // namespace uct::sm
