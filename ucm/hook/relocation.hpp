// Copies instructions to other addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucm/hook/instruction.hpp"

namespace ucm::hook {

// The most bytes that relocate writes.
inline constexpr std::size_t longest_relocated = 16;

// Returns true if the instruction can have the same effect elsewhere. Calls cannot, because the
// function that they call would return to the copy, which no unwinder knows; loop instructions have
// no form with another distance.
[[nodiscard]] bool is_relocatable(const instruction& moved) noexcept;

// Returns true if the instruction after this one is not executed next.
[[nodiscard]] bool leaves(const instruction& moved) noexcept;

// Writes the instruction at `code` to `into`, so that it has the same effect there. Returns the
// number of bytes, or 0 if it cannot be moved that far.
[[nodiscard]] std::size_t relocate(const std::uint8_t* code, const instruction& moved,
                                   std::uint8_t* into) noexcept;

inline constexpr std::size_t far_jump_size = 6 + sizeof(void*);

// Writes a jump to any address. Returns far_jump_size.
std::size_t write_far_jump(std::uint8_t* into, const void* target) noexcept;

}  // namespace ucm::hook
