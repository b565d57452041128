// Allreduce and reduce.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/part.hpp"
#include "ucg/node/pattern.hpp"

namespace ucg::node {

// What both ways share: the vector in segments, and the sources of a reduction in rank order, so
// that the bits depend neither on the way nor on segments or arrival.
class reducing : public pattern {
public:
    reducing(const call& what, const domains& who, const geometry& like, const tuning& by);

protected:
    [[nodiscard]] std::size_t begin(std::uint64_t segment) const noexcept {
        return cut_.begin(segment) * what_.element;
    }
    [[nodiscard]] std::size_t bytes(std::uint64_t segment) const noexcept {
        return cut_.size(segment) * what_.element;
    }
    [[nodiscard]] bool wants_result() const noexcept {
        return what_.what == schedule::collective::allreduce || me_ == what_.root;
    }
    // Reduces `count` elements that lie at `offset` of the segment.
    void reduce(std::uint64_t segment, const places& at, std::size_t offset, std::size_t count,
                std::byte* into) noexcept;

    algo::cut cut_;

private:
    std::vector<const void*> sources_;
};

// Everyone gives all; whoever wants the result reduces it straight into its place.
class reduce_directly final : public reducing {
public:
    reduce_directly(const call& what, const domains& who, const geometry& like, const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "direct"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;
};

// Each rank reduces a part of every segment; those who want the result copy the parts together. The
// own part is never given: it is read where it lies.
class reduce_in_parts final : public reducing {
public:
    reduce_in_parts(const call& what, const domains& who, const geometry& like, const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "in parts"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] part part_of(std::uint64_t segment, rank_t rank) const noexcept {
        return part::of(cut_.size(segment), what_.element, rank, ranks_);
    }

    std::size_t block_;  // elements reduced at a time
};

}  // namespace ucg::node
