// Collectives of long blocks in which ranks read each other's buffers: alltoall, allgather,
// allgatherv.
#pragma once

#include <memory>

#include "ucg/node/neighbours.hpp"
#include "ucg/node/portion.hpp"

namespace ucg::node {

// Of an allgather, two ranks. One copy instead of two, and two meetings for all bytes instead of
// one for each segment. A slot has nothing but the place of the rank's input; all are read when all
// are known (work), and buffers belong to their owners again when all have read (take).
class reading final : public pattern {
public:
    reading(const call& what, const domains& who, const neighbours& others);

    // Whether nobody else needs the same block, each is as long as the tuning asks for, and results
    // are not so long that copying them past the caches is faster.
    [[nodiscard]] static bool pays(const call& what, const geometry& like,
                                   const tuning& by) noexcept;

    [[nodiscard]] const char* way() const noexcept override { return "single copy"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned, std::uint64_t, const places& at) noexcept override;
    void take(std::uint64_t, const places&) noexcept override {}

private:
    [[nodiscard]] bool deals() const noexcept {
        return what_.what == schedule::collective::alltoall;
    }
    [[nodiscard]] std::size_t bytes(rank_t of) const noexcept {
        return blocks_[of].size(0) * what_.element;
    }
    // Where the block of a rank lies among all.
    [[nodiscard]] std::size_t place(rank_t of) const noexcept {
        return blocks_[of].place() * what_.element;
    }

    const neighbours& others_;
    std::vector<portion> blocks_;
    // Of an alltoall in place the input, which results overwrite before all have read it.
    std::unique_ptr<std::byte[]> spare_;
};

}  // namespace ucg::node
