// Where in a function's machine code a jump can be put.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// A place near the begin of a function for a jump of five bytes. It lies inside one instruction, so
// that no thread is ever between its bytes, and inside 16 aligned bytes, which are written at
// once. What the instructions before it did is undone, or does not matter, to a function that
// takes over there.
struct entry {
    std::uint8_t* place = nullptr;        // nullptr: there is none that this code understands
    std::uint8_t stack = 0;               // bytes by which the stack has grown by then
    const void* already_there = nullptr;  // where a jump that is there already goes to
};

inline constexpr std::size_t jump_size = 5;

// Length of the instruction at `code`, 0 for those that are not known. Knows what functions begin
// with that make a system call.
[[nodiscard]] std::size_t instruction_length(const std::uint8_t* code) noexcept;

// Of a function with the C calling convention.
[[nodiscard]] entry find_entry(std::uint8_t* function) noexcept;

// Of the C library's syscall(): the place where number and arguments have reached the registers of
// the kernel's convention, all but the sixth argument, which is still on the stack.
[[nodiscard]] entry find_syscall_entry(std::uint8_t* function) noexcept;

}  // namespace ucm::hook
