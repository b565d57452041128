// Collectives in which a rank has a block for each other one: alltoall, reduce_scatter_block,
// scatter.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/pattern.hpp"

namespace ucg::node {

// A segment is the same piece of every block; the pieces lie one after the other in a slot.
class dealing : public pattern {
public:
    dealing(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept;

    // Whether a slot holds an element for each rank.
    [[nodiscard]] static bool fits(const call& what, const geometry& like) noexcept;

    void give(std::uint64_t segment, const places& at) noexcept override;

protected:
    [[nodiscard]] std::size_t begin(std::uint64_t segment) const noexcept {
        return cut_.begin(segment) * what_.element;
    }
    [[nodiscard]] std::size_t bytes(std::uint64_t segment) const noexcept {
        return cut_.size(segment) * what_.element;
    }
    [[nodiscard]] const std::byte* own(rank_t to) const noexcept {
        return input() + to * what_.count * what_.element;
    }
    // What another rank gave this one.
    [[nodiscard]] const std::byte* from(rank_t rank, const places& at) const noexcept {
        return at.of(rank) + me_ * stride_;
    }

    algo::cut cut_;
    std::size_t stride_;  // of pieces in a slot
};

class all_to_all final : public dealing {
public:
    using dealing::dealing;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;
};

class reduce_and_deal final : public dealing {
public:
    reduce_and_deal(const call& what, rank_t me, const geometry& like, const tuning& by);
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    std::vector<const void*> sources_;
};

class deal final : public dealing {
public:
    deal(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;
};

}  // namespace ucg::node
