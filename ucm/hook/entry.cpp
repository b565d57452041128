#include "ucm/hook/entry.hpp"

#include <cstring>

#include "ucm/hook/instruction.hpp"
#include "ucm/hook/prologue.hpp"
#include "ucm/hook/relocation.hpp"

namespace ucm::hook {
namespace {

template<class T>
T read(const std::uint8_t* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

// Returns the target if the instruction is an unconditional jump in a form that libraries write
// over the functions that they replace, otherwise nullptr.
const void* jump_target(const std::uint8_t* code, const instruction& jump) noexcept {
    if (jump.is(0xe9)) return branch_target(code, jump);
    if (jump.is(0xff, 4) && jump.rip_offset != 0) {  // jump through a pointer in memory
        return read<const void*>(branch_target(code, jump));
    }
    const bool by_rax = code[0] == 0x48 && code[1] == 0xb8 && code[10] == 0xff && code[11] == 0xe0;
    const bool by_r11 = code[0] == 0x49 && code[1] == 0xbb && code[10] == 0x41 &&
                        code[11] == 0xff && code[12] == 0xe3;
    return by_rax || by_r11 ? read<const void*>(code + 2) : nullptr;
}

bool can_be_written_at_once(const std::uint8_t* address) noexcept {
    constexpr std::uintptr_t together = 16;
    return reinterpret_cast<std::uintptr_t>(address) % together + jump_size <= together;
}

// Returns true if a branch of the function leads to `address` or to an instruction between it and
// the first one. Ends at code that it cannot decode.
bool is_branched_to(const std::uint8_t* function, std::size_t size,
                    const std::uint8_t* address) noexcept {
    for (const std::uint8_t* cursor = function; cursor < function + size;) {
        const instruction next = decode(cursor);
        if (next.length == 0) return false;
        if (next.branch_size != 0 && !next.is(0xe8)) {
            const std::uint8_t* const target = branch_target(cursor, next);
            if (target > function && target <= address) return true;
        }
        cursor += next.length;
    }
    return false;
}

}  // namespace

bool undo_code::prepend(const std::uint8_t* code, std::size_t size) noexcept {
    if (size > first_) return false;
    first_ -= size;
    std::memcpy(bytes_ + first_, code, size);
    return true;
}

entry find_entry(std::uint8_t* function, std::size_t size) noexcept {
    constexpr std::size_t furthest = 64;
    const std::uint8_t* const end = function + (size < furthest ? size : furthest);
    prologue passed;
    std::uint8_t* cursor = function;
    while (cursor < end) {
        const instruction next = decode(cursor);
        if (next.length == 0) return {};
        if (next.length >= jump_size && can_be_written_at_once(cursor) && is_relocatable(next)) {
            if (is_branched_to(function, size, cursor)) return {};
            return {cursor, function, passed.undo(), jump_target(cursor, next)};
        }
        if (!passed.pass(cursor, next)) return {};
        cursor += next.length;
    }
    return {};
}

bool begins_with_jump(const std::uint8_t* function) noexcept {
    if (is_branch_mark(function)) function += decode(function).length;
    return jump_target(function, decode(function)) != nullptr;
}

entry find_syscall_entry(std::uint8_t* function, std::size_t size) noexcept {
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
    const std::size_t mark = is_branch_mark(function) ? 4 : 0;
    if (size < mark + sizeof(shuffle)) return {};
    if (std::memcmp(function + mark, shuffle, sizeof(shuffle)) != 0) return {};
    std::uint8_t* const address = function + mark + before;
    if (!can_be_written_at_once(address)) return {};
    return {address, function, {}, nullptr};
}

}  // namespace ucm::hook
