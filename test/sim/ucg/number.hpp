// What reductions are tried with: small whole numbers, whose results every type holds exactly.
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

// Element `index` of what a rank gives; `name`: of the operation's data.
[[nodiscard]] number make_number(ucg_type_t type, ucg_op_t op, std::uint64_t name,
                                 std::uint32_t rank, std::uint64_t index) noexcept;
// Of an average the sum.
[[nodiscard]] number combine(ucg_op_t op, const number& a, const number& b) noexcept;

void write(ucg_type_t type, const number& what, std::byte* into) noexcept;
// Bytes of an element that no value is in.
[[nodiscard]] bool is_padding(ucg_type_t type, std::size_t byte) noexcept;

}  // namespace group_sim
