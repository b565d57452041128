#include "ucm/hook/prologue.hpp"

#include <cstddef>
#include <cstring>

namespace ucm::hook {
namespace {

constexpr unsigned bit(std::uint8_t reg) noexcept {
    return 1U << reg;
}

// Registers that are neither arguments nor kept for the caller.
constexpr unsigned scratch = bit(rax) | bit(r10) | bit(r11);

// Returns true if the instruction only sets flags, or does nothing.
bool has_no_effect(const std::uint8_t* code, const instruction& next) noexcept {
    if (is_branch_mark(code)) return true;
    if (next.opcode_form == instruction::form::two_byte) return next.opcode == 0x1f;  // nop
    if (next.opcode_form != instruction::form::one_byte) return false;
    if (next.has_prefix) return code[0] == 0x66 && code[1] == 0x90;
    switch (next.opcode) {
        case 0x38:  // cmp
        case 0x39:
        case 0x3a:
        case 0x3b:
        case 0x3c:
        case 0x3d:
        case 0x84:  // test
        case 0x85:
        case 0xa8:
        case 0xa9:
            return true;
        case 0x90:
            return next.base == rax;  // nop, not an exchange with r8
        case 0x80:
        case 0x81:
        case 0x83:
            return (next.reg & 7U) == 7;  // cmp with a constant
        case 0xf6:
        case 0xf7:
            return (next.reg & 7U) == 0;  // test with a constant
        default:
            return false;
    }
}

// Returns true if the instruction changes only the register `reg`, and flags.
bool writes_reg(const instruction& next) noexcept {
    if (next.has_prefix) return false;
    if (next.opcode_form == instruction::form::two_byte) {
        return next.opcode == 0xb6 || next.opcode == 0xb7;  // movzx
    }
    if (next.opcode_form != instruction::form::one_byte) return false;
    switch (next.opcode) {
        case 0x03:  // add
        case 0x0b:  // or
        case 0x23:  // and
        case 0x2b:  // sub
        case 0x33:  // xor
        case 0x63:  // movsxd
        case 0x8b:  // mov
        case 0x8d:  // lea
            return true;
        default:
            return false;
    }
}

// Returns true if the instruction changes only the register of its operand, and flags.
bool writes_base(const instruction& next) noexcept {
    if (next.opcode_form != instruction::form::one_byte || next.has_prefix) return false;
    if (next.opcode >= 0xb8 && next.opcode < 0xc0) return true;  // mov constant
    if (!next.in_register) return false;
    switch (next.opcode) {
        case 0x01:  // add
        case 0x09:  // or
        case 0x21:  // and
        case 0x29:  // sub
        case 0x31:  // xor
        case 0x89:  // mov
            return true;
        case 0xc7:  // mov constant
            return (next.reg & 7U) == 0;
        default:
            return false;
    }
}

// Returns the bytes by which the instruction grows the stack, or 0.
std::int64_t growth(const instruction& next) noexcept {
    const bool has_constant = next.is(0x83) || next.is(0x81);
    if (!has_constant || !next.in_register || !next.is_wide || next.base != rsp) return 0;
    if ((next.reg & 7U) == 5) return next.immediate;                 // sub
    if ((next.reg & 7U) == 0) return -std::int64_t{next.immediate};  // add
    return 0;
}

}  // namespace

bool prologue::pass(const std::uint8_t* code, const instruction& next) noexcept {
    if (has_no_effect(code, next)) return true;
    if (next.opcode_form == instruction::form::one_byte && !next.has_prefix &&
        (next.opcode & 0xf8U) == 0x50) {
        return push(next.base);
    }
    if (const std::int64_t bytes = growth(next); bytes != 0) return grow(bytes);
    const bool copies_rsp = next.is(0x89) && next.in_register && next.reg == rsp;
    if (copies_rsp && next.base == rbp && next.is_wide && (saved_ & bit(rbp)) != 0) {
        has_frame_pointer_ = true;
        frame_ = grown_;
        return true;
    }
    return move(next);
}

bool prologue::move(const instruction& next) noexcept {
    if (writes_reg(next)) return change(next.reg);
    if (writes_base(next)) return change(next.base);
    const bool stores = next.is(0x89) || next.is(0xc7, 0);
    return stores && store(next, next.is_wide ? 8 : 4);
}

bool prologue::push(std::uint8_t reg) noexcept {
    const std::uint8_t pop[] = {0x41, static_cast<std::uint8_t>(0x58U | (reg & 7U))};
    const bool is_extended = reg >= 8;
    grown_ += 8;
    saved_ |= bit(reg);
    return reg != rsp && undo_.prepend(is_extended ? pop : pop + 1, is_extended ? 2 : 1);
}

bool prologue::grow(std::int64_t bytes) noexcept {
    constexpr std::int64_t most = 1 << 20;
    if (bytes < 0 || bytes > most) return false;
    std::uint8_t add[] = {0x48, 0x81, 0xc4, 0, 0, 0, 0};  // add constant to rsp
    const auto constant = static_cast<std::int32_t>(bytes);
    std::memcpy(add + 3, &constant, sizeof(constant));
    grown_ += bytes;
    return undo_.prepend(add, sizeof(add));
}

bool prologue::change(std::uint8_t reg) noexcept {
    if (reg == rsp) return false;
    if (reg == rbp) has_frame_pointer_ = false;
    return ((scratch | saved_) & bit(reg)) != 0;
}

bool prologue::store(const instruction& next, std::int64_t size) const noexcept {
    if (next.in_register || next.has_index || next.has_segment || !next.has_base) return false;
    std::int64_t depth = 0;
    if (next.base == rsp) {
        depth = grown_;
    } else if (next.base == rbp && has_frame_pointer_) {
        depth = frame_;
    } else {
        return false;
    }
    // The caller's frame begins with the return address.
    return next.displacement + size <= depth;
}

}  // namespace ucm::hook
