// Collectives that give a whole vector to others: barrier, bcast, gather, allgather.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/pattern.hpp"

namespace ucg::node {

// Nobody gives anything, and everyone waits for that.
class meet final : public pattern {
public:
    meet(const call& what, rank_t me, const geometry& like) noexcept
        : pattern(what, me, like.ranks) {}
    void give(std::uint64_t, const places&) noexcept override {}
    void take(std::uint64_t, const places&) noexcept override {}
};

class broadcast final : public pattern {
public:
    broadcast(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    algo::cut cut_;
};

// Gather and allgather.
class collect final : public pattern {
public:
    collect(const call& what, rank_t me, const geometry& like, const tuning& by) noexcept;
    void give(std::uint64_t segment, const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] std::byte* block(rank_t of) const noexcept {
        return output() + of * what_.count * what_.element;
    }
    [[nodiscard]] bool gets() const noexcept { return how_.to == listens::to_all; }

    algo::cut cut_;
};

}  // namespace ucg::node
