// A plain reference implementation of the format of ucg/moe/numbers/logfmt.hpp, which tries every
// code.
#pragma once

#include <cstdint>
#include <vector>

namespace test::moe {

// An encoded group: the bits of top and bottom, and a code and a sign for each value.
struct plain_group {
    std::uint16_t top = 0, bottom = 0;
    float step = 0;
    std::vector<std::uint32_t> codes;
    std::vector<bool> signs;
};
[[nodiscard]] plain_group plain_encode(const std::vector<std::uint16_t>& bf16);

// Returns the value of a code in fp32 arithmetic.
[[nodiscard]] float plain_value(const plain_group& group, std::uint32_t code, bool sign);

// Returns the decoded values of a row. Its length is a multiple of 128.
[[nodiscard]] std::vector<float> plain_logfmt(const std::vector<std::uint16_t>& bf16);

}  // namespace test::moe
