// Sums of rows with weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ucg/reduce/element.hpp"

namespace ucg::moe {

// A row that counts so much.
struct weighted {
    const void* row;
    float weight;
};

// into[i] = the sum of weight x row[i] over `from`, in its order: each product and each sum rounded
// to fp32, the result to the type, which is bf16, fp16 or fp32. Nothing to add up: 0.
void add_weighted(void* into, std::span<const weighted> from, std::uint32_t elements,
                  reduce::element type) noexcept;

// The same of rows that logfmt_encode() made; into bf16.
void add_weighted_logfmt(void* into, std::span<const weighted> from,
                         std::uint32_t elements) noexcept;

}  // namespace ucg::moe
