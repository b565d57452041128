// The format of ucg/moe/logfmt.hpp in the plainest way: every code is tried.
#pragma once

#include <cstdint>
#include <vector>

namespace test::moe {

// A group as it is sent: the bits of its ends, and for each value a code and a sign.
struct plain_group {
    std::uint16_t top = 0, bottom = 0;
    float step = 0;
    std::vector<std::uint32_t> codes;
    std::vector<bool> signs;
};
[[nodiscard]] plain_group plain_encode(const std::vector<std::uint16_t>& bf16);

// The value of a code, as fp32 arithmetic has it.
[[nodiscard]] float plain_value(const plain_group& of, std::uint32_t code, bool sign);

// What comes back of the values of a row, of a multiple of 128.
[[nodiscard]] std::vector<float> plain_logfmt(const std::vector<std::uint16_t>& bf16);

}  // namespace test::moe
