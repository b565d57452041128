#include "ucm/hook/entry.hpp"

#include <cstring>

namespace ucm::hook {
namespace {

constexpr std::uint8_t branch_mark[] = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64

bool is_branch_mark(const std::uint8_t* code) noexcept {
    return std::memcmp(code, branch_mark, sizeof(branch_mark)) == 0;
}

// Returns the length of the operand at `code`: a ModRM byte with its SIB byte and displacement.
std::size_t operand_length(const std::uint8_t* code) noexcept {
    const unsigned mode = *code >> 6;
    const unsigned base = *code & 7U;
    if (mode == 3) return 1;
    const bool has_index = base == 4;
    std::size_t length = has_index ? 2 : 1;
    if (mode == 1) length += 1;
    const bool no_base = mode == 0 && (has_index ? (code[1] & 7U) == 5 : base == 5);
    if (mode == 2 || no_base) length += 4;
    return length;
}

template<class T>
T read(const std::uint8_t* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

const void* relative_target(const std::uint8_t* after, const std::uint8_t* offset) noexcept {
    return after + read<std::int32_t>(offset);
}

// Returns the target if `code` is an unconditional jump in a form that libraries write over the
// functions that they replace, otherwise nullptr.
const void* jump_target(const std::uint8_t* code) noexcept {
    if (code[0] == 0xe9) return relative_target(code + 5, code + 1);
    if (code[0] == 0xff && code[1] == 0x25) {  // jump through a pointer in memory
        return read<const void*>(
            static_cast<const std::uint8_t*>(relative_target(code + 6, code + 2)));
    }
    const bool by_rax = code[0] == 0x48 && code[1] == 0xb8 && code[10] == 0xff && code[11] == 0xe0;
    const bool by_r11 = code[0] == 0x49 && code[1] == 0xbb && code[10] == 0x41 &&
                        code[11] == 0xff && code[12] == 0xe3;
    return by_rax || by_r11 ? read<const void*>(code + 2) : nullptr;
}

// Returns whether the instruction cannot affect a replacement function that takes over after it: it
// only copies a register into the scratch register r10.
bool has_no_effect(const std::uint8_t* code) noexcept {
    return (code[0] & 0xf1U) == 0x41 && code[1] == 0x89 && (code[2] & 0xc7U) == 0xc2;
}

bool grows_stack(const std::uint8_t* code) noexcept {
    return code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec && code[3] < 0x80;
}

bool can_be_written_at_once(const std::uint8_t* address) noexcept {
    constexpr std::uintptr_t together = 16;
    return reinterpret_cast<std::uintptr_t>(address) % together + jump_size <= together;
}

}  // namespace

std::size_t instruction_length(const std::uint8_t* code) noexcept {
    if (is_branch_mark(code)) return sizeof(branch_mark);
    const std::uint8_t* cursor = code;
    if (*cursor == 0x64) ++cursor;  // prefix FS: the address is relative to thread-local memory
    const bool extended = (*cursor & 0xf0U) == 0x40;
    const bool wide = extended && (*cursor & 8U) != 0;
    if (extended) ++cursor;
    const std::uint8_t opcode = *cursor++;
    const auto length = [&](std::size_t rest) {
        return static_cast<std::size_t>(cursor - code) + rest;
    };
    if (opcode >= 0x50 && opcode < 0x60) return length(0);             // push, pop
    if (opcode >= 0xb8 && opcode < 0xc0) return length(wide ? 8 : 4);  // mov constant
    switch (opcode) {
        case 0xe9:  // jmp
            return length(4);
        case 0x31:  // xor
        case 0x33:
        case 0x85:  // test
        case 0x89:  // mov
        case 0x8b:
        case 0x8d:  // lea
            return length(operand_length(cursor));
        case 0x81:  // add, sub, cmp, … constant
        case 0xc7:  // mov constant
            return length(operand_length(cursor) + 4);
        case 0x83:  // add, sub, cmp, … constant of one byte
            return length(operand_length(cursor) + 1);
        case 0xf7:  // test constant; other instructions with this opcode are unknown
            return (*cursor & 0x38U) == 0 ? length(operand_length(cursor) + 4) : 0;
        case 0xff:  // jmp through a pointer
            return (*cursor & 0x38U) == 0x20 ? length(operand_length(cursor)) : 0;
        default:
            return 0;
    }
}

entry find_entry(std::uint8_t* function) noexcept {
    constexpr std::size_t furthest = 16;
    entry found;
    std::uint8_t* cursor = function;
    while (cursor < function + furthest) {
        const std::size_t length = instruction_length(cursor);
        if (length >= jump_size && can_be_written_at_once(cursor)) {
            found.address = cursor;
            found.existing_target = jump_target(cursor);
            return found;
        }
        if (grows_stack(cursor) && found.stack == 0) {
            found.stack = cursor[3];
        } else if (!is_branch_mark(cursor) && !has_no_effect(cursor)) {
            return {};
        }
        cursor += length;
    }
    return {};
}

entry find_syscall_entry(std::uint8_t* function) noexcept {
    constexpr std::uint8_t shuffle[] = {
        0x48, 0x89, 0xf8,              // mov %rdi,%rax
        0x48, 0x89, 0xf7,              // mov %rsi,%rdi
        0x48, 0x89, 0xd6,              // mov %rdx,%rsi
        0x48, 0x89, 0xca,              // mov %rcx,%rdx
        0x4d, 0x89, 0xc2,              // mov %r8,%r10
        0x4d, 0x89, 0xc8,              // mov %r9,%r8
        0x4c, 0x8b, 0x4c, 0x24, 0x08,  // mov 8(%rsp),%r9
        0x0f, 0x05,                    // syscall
    };
    constexpr std::size_t before = 18;
    if (is_branch_mark(function)) function += sizeof(branch_mark);
    if (std::memcmp(function, shuffle, sizeof(shuffle)) != 0) return {};
    std::uint8_t* address = function + before;
    return can_be_written_at_once(address) ? entry{address, 0, nullptr} : entry{};
}

}  // namespace ucm::hook
