// Test data for collectives: the correct result of each collective is known without a reduction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucg/reference/layout.hpp"
#include "ucg/schedule/call.hpp"

namespace ucg::sim {

// Element i of rank r is w(r) a(i) modulo 2^32, with weights w that look random. So the sum over a
// range of ranks is a difference of two prefix sums, and missing or duplicate contributions are
// detected. The object owns the buffers of all ranks.
class samples {
public:
    using element = std::uint32_t;

    // `count` is that of the schedule::call.
    samples(schedule::collective kind, schedule::rank_t ranks, schedule::rank_t root,
            std::uint64_t count);

    [[nodiscard]] schedule::call call_of(schedule::rank_t rank) noexcept;

    // Describes the first wrong element of the rank's output; empty: the output is correct.
    [[nodiscard]] std::string wrong(schedule::rank_t rank) const;

private:
    using rank_t = schedule::rank_t;
    [[nodiscard]] reference::layout layout_of(rank_t rank) const;
    [[nodiscard]] element value(const reference::layout& of_rank, const reference::block& part,
                                std::uint64_t index) const noexcept;
    [[nodiscard]] element sum(rank_t first, rank_t end, std::uint64_t index) const noexcept;

    schedule::collective kind_;
    rank_t ranks_;
    rank_t root_;
    std::uint64_t count_;
    schedule::kernel_reducer reducer_;
    std::vector<element> sums_;  // prefix sums of the weights
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint64_t> offsets_;
    std::vector<std::vector<element>> inputs_;
    std::vector<std::vector<element>> outputs_;
};

}  // namespace ucg::sim
