// Finds the position in a function's machine code where a jump can be written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// A position near the start of a function where a jump of five bytes can be written. The jump
// overwrites bytes of one instruction only, so no thread can be between these bytes. It lies inside
// 16 aligned bytes, which are written atomically. The instructions before this position only grow
// the stack, which the trampoline undoes, or have no effect on the function that the jump leads to.
struct entry {
    std::uint8_t* address = nullptr;        // nullptr: no suitable position was found
    std::uint8_t stack = 0;                 // bytes by which the stack has grown at this position
    const void* existing_target = nullptr;  // target of a jump that is already there
};

inline constexpr std::size_t jump_size = 5;

// Returns the length of the instruction at `code`, or 0 if it is unknown. Knows the instructions
// with which functions that make a system call start.
[[nodiscard]] std::size_t instruction_length(const std::uint8_t* code) noexcept;

// Finds the entry of a function with the C calling convention.
[[nodiscard]] entry find_entry(std::uint8_t* function) noexcept;

// Finds the entry of the C library's syscall(): there, number and arguments are in the registers of
// the kernel's convention, except the sixth argument, which is still on the stack.
[[nodiscard]] entry find_syscall_entry(std::uint8_t* function) noexcept;

}  // namespace ucm::hook
