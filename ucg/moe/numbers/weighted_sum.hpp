// Weighted sums of rows.
#pragma once

#include <cstdint>
#include <span>

#include "ucg/reduce/element.hpp"

namespace ucg::moe {

// A row and its weight.
struct weighted {
    const void* row;
    float weight;
};

// into[i] = the sum of weight x row[i] over `from`, in its order. Each product and each sum is
// rounded to fp32, the result to `type`, which is bf16, fp16 or fp32. An empty sum is 0.
void add_weighted(void* into, std::span<const weighted> from, std::uint32_t elements,
                  reduce::element type) noexcept;

// The same for rows encoded by logfmt_encode(). The result is bf16.
void add_weighted_logfmt(void* into, std::span<const weighted> from,
                         std::uint32_t elements) noexcept;

}  // namespace ucg::moe
