// Data of which the result of every collective is known without reducing anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucg/schedule/call.hpp"

namespace ucg::sim {

// Element i of rank r is w(r) a(i) modulo 2^32, with weights w that look random: so what the ranks
// of a range add up to is a difference of two sums, and what is missing or taken twice shows.
// Owns the buffers of all ranks.
class samples {
public:
    using element = std::uint32_t;

    // `count`: elements of the call.
    samples(schedule::collective what, schedule::rank_t ranks, schedule::rank_t root,
            std::uint64_t count);

    [[nodiscard]] schedule::call call_of(schedule::rank_t rank) noexcept;

    // Empty: what that rank got is right. Else a sentence.
    [[nodiscard]] std::string wrong(schedule::rank_t rank) const;

private:
    using rank_t = schedule::rank_t;
    // Where a rank's input or output is cut into one block for each rank.
    [[nodiscard]] bool gives_blocks() const noexcept;
    [[nodiscard]] bool gets_blocks() const noexcept;
    [[nodiscard]] bool gives(rank_t rank) const noexcept;
    [[nodiscard]] bool gets(rank_t rank) const noexcept;
    [[nodiscard]] element expected(rank_t rank, std::uint64_t index) const noexcept;
    [[nodiscard]] element sum(rank_t first, rank_t end, std::uint64_t index) const noexcept;

    schedule::collective what_;
    rank_t ranks_;
    rank_t root_;
    std::uint64_t count_;
    schedule::kernel_reducer how_;
    std::vector<element> sums_;  // of the weights of all ranks before
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint64_t> places_;
    std::vector<std::vector<element>> from_;
    std::vector<std::vector<element>> into_;
};

}  // namespace ucg::sim
