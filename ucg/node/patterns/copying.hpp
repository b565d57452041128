// Collectives that give a whole vector to other ranks: barrier, bcast, gather, allgather and
// allgatherv.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/patterns/chunked_block.hpp"

namespace ucg::node {

// Every rank gives nothing and waits until all have given.
class barrier final : public pattern {
public:
    barrier(const call& args, const numa_domains& domains) noexcept : pattern(args, domains) {
        await_all();
    }
    [[nodiscard]] const char* description() const noexcept override { return "one meeting"; }
    void give(std::uint64_t, const segment_buffers&) noexcept override {}
    void take(std::uint64_t, const segment_buffers&) noexcept override {}
};

class broadcast final : public pattern {
public:
    broadcast(const call& args, const numa_domains& domains, const geometry& layout,
              const tuning& params) noexcept;
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    algo::cut cut_;
};

// Gather, allgather and allgatherv.
class gather final : public pattern {
public:
    gather(const call& args, const numa_domains& domains, const geometry& layout,
           const tuning& params, std::pmr::memory_resource* memory);
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    [[nodiscard]] std::size_t bytes(rank_t rank, std::uint64_t segment) const noexcept {
        return blocks_[rank].size(segment) * args_.element;
    }
    // Returns where a chunk of a rank's block belongs in the output.
    [[nodiscard]] std::byte* output_of(rank_t rank, std::uint64_t segment) const noexcept {
        return output() + (blocks_[rank].offset() + blocks_[rank].begin(segment)) * args_.element;
    }
    [[nodiscard]] bool is_receiver() const noexcept { return plan_.has_take; }

    std::pmr::vector<chunked_block> blocks_;
};

}  // namespace ucg::node
