// Finds the position in a function's machine code where a jump can be written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// Code that undoes the instructions of a function before a position, so that the function's
// arguments, stack and saved registers are those of its caller again.
class undo_code {
public:
    // Adds code that runs before the present one. Returns false if there is no room.
    bool prepend(const std::uint8_t* code, std::size_t size) noexcept;

    [[nodiscard]] const std::uint8_t* begin() const noexcept { return bytes_ + first_; }
    [[nodiscard]] std::size_t size() const noexcept { return sizeof(bytes_) - first_; }

private:
    std::uint8_t bytes_[32]{};
    std::size_t first_ = sizeof(bytes_);
};

// A position near the start of a function where a jump of five bytes can be written. The jump
// overwrites bytes of one instruction only, so no thread can be between these bytes. It lies inside
// 16 aligned bytes, which are written atomically. No branch of the function leads to this position
// or to an instruction before it. The instructions before it have only effects that `undo` undoes,
// or that the function's caller cannot notice.
struct entry {
    std::uint8_t* address = nullptr;        // nullptr: no suitable position was found
    std::uint8_t* function = nullptr;       // first instruction of the function
    undo_code undo{};                       // undoes the instructions before `address`
    const void* existing_target = nullptr;  // target of a jump that is already there
};

inline constexpr std::size_t jump_size = 5;

// Finds the entry of a function with the C calling convention, whose code has `size` bytes.
[[nodiscard]] entry find_entry(std::uint8_t* function, std::size_t size) noexcept;

// Returns true if the function begins with a jump that another library has written.
[[nodiscard]] bool begins_with_jump(const std::uint8_t* function) noexcept;

// Finds the entry of the C library's syscall(): there, number and arguments are in the registers of
// the kernel's convention, except the sixth argument, which is still on the stack.
[[nodiscard]] entry find_syscall_entry(std::uint8_t* function, std::size_t size) noexcept;

}  // namespace ucm::hook
