// Where the owner of a block has it in its own address space, as a peer's key says.
#pragma once

#include <cstdint>

namespace uct::sm {

// Every host has pages of this size or of a multiple of it.
inline constexpr std::uint64_t smallest_page = 4096;

// Returns whether a block can lie there: owners get blocks from mmap. Numbers that are aligned for
// the owner are aligned in the mapping here only if both begin with a page. A processor works on
// misaligned ones slowly, not atomically, or not at all.
[[nodiscard]] constexpr bool is_possible_base(std::uint64_t owners_base) noexcept {
    return owners_base % smallest_page == 0;
}

}  // namespace uct::sm
