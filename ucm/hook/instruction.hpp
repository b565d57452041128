// Decodes single instructions of x86-64 machine code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// Numbers of registers in instructions.
inline constexpr std::uint8_t rax = 0, rsp = 4, rbp = 5, r10 = 10, r11 = 11;

// The parts of an instruction from which its effect and its relocation follow.
struct instruction {
    enum class form : std::uint8_t {
        one_byte,  // the opcode is one byte
        two_byte,  // the opcode follows 0x0f
        other      // longer opcodes and vector instructions: only length and rip_offset are set
    };
    std::uint8_t length = 0;  // in bytes; 0: unknown
    form opcode_form = form::other;
    std::uint8_t opcode = 0;
    bool has_prefix = false;   // a prefix other than REX and segments, which may change the meaning
    bool has_segment = false;  // the address of the operand is relative to a segment
    bool is_wide = false;      // operates on 64 bits
    bool has_operand = false;  // has a ModRM byte
    bool in_register = false;  // the operand is the register `base`, not memory
    bool has_index = false;    // the address of the operand has an index register
    bool has_base = false;     // the operand is a register, or its address has a base register
    std::uint8_t reg = 0;      // other register of the instruction, or a part of its opcode
    std::uint8_t base = 0;     // register of the operand, of its address, or in the opcode
    std::uint8_t rip_offset = 0;  // position of a displacement from the next instruction; 0: none
    std::int32_t displacement = 0;
    std::int32_t immediate = 0;    // the low 32 bits of a constant
    std::uint8_t branch_size = 0;  // bytes of a branch's displacement; 0: not a relative branch

    // Returns true if this is the one-byte opcode `code` without a prefix that changes its meaning.
    [[nodiscard]] bool is(std::uint8_t code) const noexcept {
        return opcode_form == form::one_byte && opcode == code && !has_prefix;
    }
    // The same for opcodes that are selected by three bits of the ModRM byte.
    [[nodiscard]] bool is(std::uint8_t code, std::uint8_t selector) const noexcept {
        return is(code) && (reg & 7U) == selector;
    }
};

// Decodes the instruction at `code`, of which at least 16 bytes or all must be readable.
[[nodiscard]] instruction decode(const std::uint8_t* code) noexcept;

// Returns true for the mark of a branch target (endbr64).
[[nodiscard]] bool is_branch_mark(const std::uint8_t* code) noexcept;

// Returns the address to which a relative branch at `code` jumps.
[[nodiscard]] inline const std::uint8_t* branch_target(const std::uint8_t* code,
                                                       const instruction& branch) noexcept {
    return code + branch.length + branch.displacement;
}

}  // namespace ucm::hook
