#include "ucm/hook/relocation.hpp"

#include <cstring>

namespace ucm::hook {
namespace {

bool is_call(const instruction& moved) noexcept {
    return moved.is(0xe8) || moved.is(0xff, 2) || moved.is(0xff, 3);
}

bool is_relative_jump(const instruction& moved) noexcept {
    return moved.is(0xe9) || moved.is(0xeb);
}

bool is_short_condition(const instruction& moved) noexcept {
    return moved.branch_size == 1 && (moved.opcode & 0xf0U) == 0x70 && !moved.has_prefix;
}

// Writes a conditional branch with a displacement of four bytes.
std::size_t widen(const std::uint8_t* code, const instruction& moved, std::uint8_t* into) noexcept {
    constexpr std::size_t size = 6;
    const std::int64_t distance = branch_target(code, moved) - (into + size);
    const auto fitting = static_cast<std::int32_t>(distance);
    if (fitting != distance) return 0;
    into[0] = 0x0f;
    into[1] = static_cast<std::uint8_t>(moved.opcode + 0x10);
    std::memcpy(into + 2, &fitting, sizeof(fitting));
    return size;
}

// Copies an instruction with a displacement of four bytes at `offset` that counts from the next
// instruction.
std::size_t copy_with_displacement(const std::uint8_t* code, const instruction& moved,
                                   std::size_t offset, std::uint8_t* into) noexcept {
    const std::int64_t distance = moved.displacement + (code - into);
    const auto fitting = static_cast<std::int32_t>(distance);
    if (fitting != distance) return 0;
    std::memcpy(into, code, moved.length);
    std::memcpy(into + offset, &fitting, sizeof(fitting));
    return moved.length;
}

}  // namespace

bool is_relocatable(const instruction& moved) noexcept {
    if (moved.length == 0 || is_call(moved)) return false;
    return moved.branch_size != 1 || is_relative_jump(moved) || is_short_condition(moved);
}

bool leaves(const instruction& moved) noexcept {
    return is_relative_jump(moved) || moved.is(0xff, 4) || moved.is(0xff, 5) || moved.is(0xc3) ||
           moved.is(0xc2);
}

std::size_t relocate(const std::uint8_t* code, const instruction& moved,
                     std::uint8_t* into) noexcept {
    if (!is_relocatable(moved)) return 0;
    if (is_relative_jump(moved)) return write_far_jump(into, branch_target(code, moved));
    if (is_short_condition(moved)) return widen(code, moved, into);
    if (moved.branch_size != 0) {
        const std::size_t offset = moved.length - std::size_t{moved.branch_size};
        return copy_with_displacement(code, moved, offset, into);
    }
    if (moved.rip_offset != 0) {
        return copy_with_displacement(code, moved, moved.rip_offset, into);
    }
    std::memcpy(into, code, moved.length);
    return moved.length;
}

std::size_t write_far_jump(std::uint8_t* into, const void* target) noexcept {
    constexpr std::uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp through the pointer behind it
    std::memcpy(into, jump, sizeof(jump));
    std::memcpy(into + sizeof(jump), &target, sizeof(target));
    return sizeof(jump) + sizeof(target);
}

}  // namespace ucm::hook
