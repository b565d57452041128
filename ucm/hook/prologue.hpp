// Effects of the instructions at the start of a function.
#pragma once

#include <cstdint>

#include "ucm/hook/entry.hpp"
#include "ucm/hook/instruction.hpp"

namespace ucm::hook {

// Follows a function of the C calling convention from its first instruction, and collects the code
// that undoes the instructions. Used on the stack while an entry is searched for.
class prologue {
public:
    // Goes past the instruction at `code`. Returns false if its effect cannot be undone: it may
    // save registers, grow the stack, write to the stack that it has added, and change registers
    // that it has saved or that no caller expects to keep their values.
    [[nodiscard]] bool pass(const std::uint8_t* code, const instruction& next) noexcept;

    [[nodiscard]] const undo_code& undo() const noexcept { return undo_; }

private:
    [[nodiscard]] bool push(std::uint8_t reg) noexcept;
    [[nodiscard]] bool grow(std::int64_t bytes) noexcept;
    [[nodiscard]] bool change(std::uint8_t reg) noexcept;
    [[nodiscard]] bool store(const instruction& next, std::int64_t size) const noexcept;
    [[nodiscard]] bool move(const instruction& next) noexcept;

    undo_code undo_;
    unsigned saved_ = 0;              // bit per register whose value is on the stack
    std::int64_t grown_ = 0;          // bytes by which the stack has grown
    std::int64_t frame_ = 0;          // bytes by which it had grown at the address in rbp
    bool has_frame_pointer_ = false;  // rbp is an address of the stack
};

}  // namespace ucm::hook
