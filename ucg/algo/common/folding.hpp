// How a number of ranks that is no power of two takes part in algorithms that need one.
#pragma once

#include <bit>

#include "ucg/schedule/step.hpp"

namespace ucg::algo {

using schedule::rank_t;

// The first ranks form pairs (0, 1), (2, 3), …, as many as are needed for a power of two to remain;
// the odd one of a pair gives its part to the even one, which acts for both. So the ranks that each
// remaining one acts for stay neighbours, and orders of ranks are kept. Value type.
class folding {
public:
    folding(rank_t rank, rank_t size) noexcept
        : left_(std::bit_floor(size)), pairs_(size - left_), rank_(rank) {}

    // How many remain.
    [[nodiscard]] rank_t ranks() const noexcept { return left_; }

    // What this rank does.
    [[nodiscard]] bool gives() const noexcept { return rank_ < 2 * pairs_ && rank_ % 2 == 1; }
    [[nodiscard]] bool takes() const noexcept { return rank_ < 2 * pairs_ && rank_ % 2 == 0; }
    [[nodiscard]] rank_t partner() const noexcept { return rank_ ^ 1U; }

    // Its number among those that remain, and back.
    [[nodiscard]] rank_t folded() const noexcept {
        return rank_ < 2 * pairs_ ? rank_ / 2 : rank_ - pairs_;
    }
    [[nodiscard]] rank_t real(rank_t folded) const noexcept {
        return folded < pairs_ ? folded * 2 : folded + pairs_;
    }

private:
    rank_t left_;
    rank_t pairs_;
    rank_t rank_;
};

}  // namespace ucg::algo
