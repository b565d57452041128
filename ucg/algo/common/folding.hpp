// Folding: lets any number of ranks take part in algorithms that need a power of two.
#pragma once

#include <bit>

#include "ucg/schedule/step.hpp"

namespace ucg::algo {

using schedule::rank_t;

// The first ranks form pairs (0, 1), (2, 3), … The number of pairs is such that a power of two
// remains. The odd rank of a pair sends its part to the even rank, which acts for both. So each
// remaining rank acts for neighbouring ranks, and the order of ranks is kept. Value type.
class folding {
public:
    folding(rank_t rank, rank_t size) noexcept
        : left_(std::bit_floor(size)), pairs_(size - left_), rank_(rank) {}

    // Number of remaining ranks, a power of two.
    [[nodiscard]] rank_t ranks() const noexcept { return left_; }

    // The role of this rank. Both are false for a rank without a partner.
    [[nodiscard]] bool sends_to_partner() const noexcept {
        return rank_ < 2 * pairs_ && rank_ % 2 == 1;
    }
    [[nodiscard]] bool acts_for_partner() const noexcept {
        return rank_ < 2 * pairs_ && rank_ % 2 == 0;
    }
    [[nodiscard]] rank_t partner() const noexcept { return rank_ ^ 1U; }

    // The number of this rank among the remaining ranks, and the inverse mapping.
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
