// Binomial trees over virtual ranks, which are counted from the root.
#pragma once

#include <algorithm>
#include <bit>

#include "ucg/schedule/step.hpp"

namespace ucg::algo {

using schedule::rank_t;

// One rank in a binomial tree. Virtual rank v is the root of the subtree v … end() - 1. Its parent
// is v without its lowest bit; its children are v + 1, v + 2, v + 4, … below that bit. Value type.
class binomial_node {
public:
    binomial_node(rank_t rank, rank_t size, rank_t root) noexcept
        : size_(size), root_(root), virtual_rank_((rank + size - root) % size) {}

    [[nodiscard]] rank_t virtual_rank() const noexcept { return virtual_rank_; }
    [[nodiscard]] bool is_root() const noexcept { return virtual_rank_ == 0; }

    // The lowest bit of the virtual rank. For the root: the smallest power of two that is at least
    // the size.
    [[nodiscard]] rank_t reach() const noexcept {
        return is_root() ? std::bit_ceil(size_) : virtual_rank_ & (~virtual_rank_ + 1);
    }
    [[nodiscard]] rank_t end() const noexcept { return end_of(virtual_rank_, reach()); }
    [[nodiscard]] rank_t parent() const noexcept { return real_rank(virtual_rank_ - reach()); }

    // The child at virtual rank + `distance`, a power of two below reach(). child() and child_end()
    // are valid only if has_child() is true.
    [[nodiscard]] bool has_child(rank_t distance) const noexcept {
        return virtual_rank_ + distance < size_;
    }
    [[nodiscard]] rank_t child(rank_t distance) const noexcept {
        return real_rank(virtual_rank_ + distance);
    }
    [[nodiscard]] rank_t child_end(rank_t distance) const noexcept {
        return end_of(virtual_rank_ + distance, distance);
    }

    [[nodiscard]] rank_t real_rank(rank_t virtual_rank) const noexcept {
        return (virtual_rank + root_) % size_;
    }

private:
    [[nodiscard]] rank_t end_of(rank_t virtual_rank, rank_t reach) const noexcept {
        return size_ - virtual_rank < reach ? size_ : virtual_rank + reach;
    }
    rank_t size_;
    rank_t root_;
    rank_t virtual_rank_;
};

// Maximum number of messages to or from children that are in flight at the same time.
inline constexpr unsigned children_at_once = 4;

}  // namespace ucg::algo
