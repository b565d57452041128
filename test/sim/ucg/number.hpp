// Operands of reductions: small integers, whose results every type represents exactly.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>

namespace group_sim {

// A value type.
struct number {
    std::int64_t real = 0;
    std::int64_t imaginary = 0;
    std::int32_t place = 0;
};

// Element `index` of a rank's operand; `name` identifies the operation's data.
[[nodiscard]] number make_number(ucg_type_t type, ucg_op_t op, std::uint64_t name,
                                 std::uint32_t rank, std::uint64_t index) noexcept;
// Combines two numbers; for an average adds them.
[[nodiscard]] number combine(ucg_op_t op, const number& a, const number& b) noexcept;

void write(ucg_type_t type, const number& value, std::byte* into) noexcept;
// True for padding bytes of an element.
[[nodiscard]] bool is_padding(ucg_type_t type, std::size_t byte) noexcept;

}  // namespace group_sim
