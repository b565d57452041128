// Collectives in which a rank has a block for each other one: alltoall, reduce_scatter (and
// _block), scatter.
#pragma once

#include <memory>

#include "ucg/node/portion.hpp"

namespace ucg::node {

// A segment is a piece of every block; the pieces lie one after the other in a slot.
class dealing : public pattern {
public:
    dealing(const call& what, const domains& who, const geometry& like, const tuning& by);

    // Whether a slot holds an element for each rank.
    [[nodiscard]] static bool fits(const call& what, const geometry& like) noexcept;

    void give(std::uint64_t segment, const places& at) noexcept override;

protected:
    // Of the piece of a rank's block.
    [[nodiscard]] std::size_t bytes(rank_t of, std::uint64_t segment) const noexcept {
        return blocks_[of].size(segment) * what_.element;
    }
    // Where it begins: within the block, and within a buffer that has all blocks.
    [[nodiscard]] std::size_t within_block(rank_t of, std::uint64_t segment) const noexcept {
        return blocks_[of].begin(segment) * what_.element;
    }
    [[nodiscard]] std::size_t within_all(rank_t of, std::uint64_t segment) const noexcept {
        return blocks_[of].place() * what_.element + within_block(of, segment);
    }
    // Of a piece in a slot.
    [[nodiscard]] std::size_t offset(rank_t of) const noexcept { return offsets_[of]; }
    // Puts everything but the own piece of `all` into the own slot.
    void give_others(const std::byte* all, std::uint64_t segment, const places& at) noexcept;
    // What another rank gave this one.
    [[nodiscard]] const std::byte* from(rank_t rank, const places& at) const noexcept {
        return at.of(rank) + offsets_[me_];
    }

private:
    std::vector<portion> blocks_;
    std::vector<std::size_t> offsets_;  // of pieces in a slot
};

class all_to_all final : public dealing {
public:
    using dealing::dealing;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;
};

// The result may lie where the own block of the input does, also without being called in place.
class reduce_and_deal : public dealing {
public:
    reduce_and_deal(const call& what, const domains& who, const geometry& like, const tuning& by);
    void take(std::uint64_t segment, const places& at) noexcept override;

protected:
    // Reduces the own piece from what sources_ has, which has room for all ranks.
    void reduce_sources(std::uint64_t segment) noexcept;

    std::vector<const void*> sources_;

private:
    // Where results wait until all of the input is given, where they would overwrite it before.
    std::unique_ptr<std::byte[]> spare_;
};

class deal final : public dealing {
public:
    deal(const call& what, const domains& who, const geometry& like, const tuning& by);
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;
};

}  // namespace ucg::node
