// Binomial trees over ranks that are counted from the root.
#pragma once

#include <algorithm>
#include <bit>

#include "ucg/schedule/step.hpp"

namespace ucg::algo {

using schedule::rank_t;

// Place v of a binomial tree acts for the places v … end() - 1. Its parent is v without its lowest
// bit; its children are v + 1, v + 2, v + 4, … below that bit. Value type.
class binomial_place {
public:
    binomial_place(rank_t rank, rank_t size, rank_t root) noexcept
        : size_(size), root_(root), place_((rank + size - root) % size) {}

    [[nodiscard]] rank_t place() const noexcept { return place_; }
    [[nodiscard]] bool is_root() const noexcept { return place_ == 0; }

    // The lowest bit; of the root a power of two that is not below the size.
    [[nodiscard]] rank_t reach() const noexcept {
        return is_root() ? std::bit_ceil(size_) : place_ & (~place_ + 1);
    }
    [[nodiscard]] rank_t end() const noexcept { return end_of(place_, reach()); }
    [[nodiscard]] rank_t parent() const noexcept { return real(place_ - reach()); }

    // Of the child `distance` (a power of two below reach()) away, where that is in the group.
    [[nodiscard]] bool has_child(rank_t distance) const noexcept {
        return place_ + distance < size_;
    }
    [[nodiscard]] rank_t child(rank_t distance) const noexcept { return real(place_ + distance); }
    [[nodiscard]] rank_t child_end(rank_t distance) const noexcept {
        return end_of(place_ + distance, distance);
    }

    [[nodiscard]] rank_t real(rank_t place) const noexcept { return (place + root_) % size_; }

private:
    [[nodiscard]] rank_t end_of(rank_t place, rank_t reach) const noexcept {
        return size_ - place < reach ? size_ : place + reach;
    }
    rank_t size_;
    rank_t root_;
    rank_t place_;
};

// Several messages to or from children may be under way at the same time.
inline constexpr unsigned children_at_once = 4;

}  // namespace ucg::algo
