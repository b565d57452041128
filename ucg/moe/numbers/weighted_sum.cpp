// Weighted sums of rows. This file is compiled without fused multiply-add instructions, which round
// differently, so that all machines compute the same bits.
#include "ucg/moe/numbers/weighted_sum.hpp"

#include <algorithm>

#include "ucg/moe/numbers/logfmt.hpp"
#include "ucg/reduce/narrow_float.hpp"

namespace ucg::moe {
namespace {

template<class Format>
struct narrow {
    using stored = typename Format::bits;
    static float take(stored from) noexcept { return reduce::widen<Format>(from); }
    static stored give(float from) noexcept { return reduce::narrow<Format>(from); }
};
struct plain {
    using stored = float;
    static float take(float from) noexcept { return from; }
    static float give(float from) noexcept { return from; }
};

// Adds block by block, so that the partial sum stays in the first-level cache.
template<class As>
void add_all(void* into, std::span<const weighted> from, std::uint32_t elements) noexcept {
    constexpr std::uint32_t block = 1024;
    float sum[block];
    for (std::uint32_t first = 0; first < elements; first += block) {
        const std::uint32_t count = std::min(block, elements - first);
        std::fill_n(sum, count, 0.0F);
        for (const weighted& each : from) {
            const auto* const row = static_cast<const typename As::stored*>(each.row) + first;
            for (std::uint32_t i = 0; i < count; ++i)
                sum[i] += each.weight * As::take(row[i]);
        }
        auto* const out = static_cast<typename As::stored*>(into) + first;
        for (std::uint32_t i = 0; i < count; ++i)
            out[i] = As::give(sum[i]);
    }
}

}  // namespace

void add_weighted(void* into, std::span<const weighted> from, std::uint32_t elements,
                  reduce::element type) noexcept {
    if (type == reduce::element::bf16)
        add_all<narrow<reduce::bf16_format>>(into, from, elements);
    else if (type == reduce::element::fp16)
        add_all<narrow<reduce::fp16_format>>(into, from, elements);
    else
        add_all<plain>(into, from, elements);
}

void add_weighted_logfmt(void* into, std::span<const weighted> from,
                         std::uint32_t elements) noexcept {
    auto* out = static_cast<std::uint16_t*>(into);
    for (std::uint32_t group = 0; group < elements / logfmt_group; ++group) {
        float sum[logfmt_group] = {};
        for (const weighted& each : from) {
            float row[logfmt_group];
            logfmt_decode(static_cast<const std::byte*>(each.row) + group * logfmt_group_bytes,
                          row);
            for (std::uint32_t i = 0; i < logfmt_group; ++i)
                sum[i] += each.weight * row[i];
        }
        for (const float each : sum)
            *out++ = reduce::narrow<reduce::bf16_format>(each);
    }
}

}  // namespace ucg::moe
