// Collectives that give a whole vector to others: barrier, bcast, gather, allgather, allgatherv.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/portion.hpp"

namespace ucg::node {

// Nobody gives anything, and everyone waits for that.
class meet final : public pattern {
public:
    meet(const call& what, const domains& who) noexcept : pattern(what, who) { hear_all(); }
    [[nodiscard]] const char* way() const noexcept override { return "one meeting"; }
    void give(std::uint64_t, const places&) noexcept override {}
    void take(std::uint64_t, const places&) noexcept override {}
};

class broadcast final : public pattern {
public:
    broadcast(const call& what, const domains& who, const geometry& like,
              const tuning& by) noexcept;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    algo::cut cut_;
};

// Gather, allgather and allgatherv.
class collect final : public pattern {
public:
    collect(const call& what, const domains& who, const geometry& like, const tuning& by);
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] std::size_t bytes(rank_t of, std::uint64_t segment) const noexcept {
        return blocks_[of].size(segment) * what_.element;
    }
    // Where a piece of a rank's block belongs.
    [[nodiscard]] std::byte* piece(rank_t of, std::uint64_t segment) const noexcept {
        return output() + (blocks_[of].place() + blocks_[of].begin(segment)) * what_.element;
    }
    [[nodiscard]] bool gets() const noexcept { return how_.takes; }

    std::vector<portion> blocks_;
};

}  // namespace ucg::node
