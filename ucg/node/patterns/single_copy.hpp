// Collectives of long blocks in which ranks read each other's buffers: alltoall, allgather and
// allgatherv.
#pragma once

#include <memory>

#include "ucg/node/engine/local_peers.hpp"
#include "ucg/node/patterns/chunked_block.hpp"

namespace ucg::node {

// Used for allgather and allgatherv between two ranks only. Data is copied once instead of twice,
// and ranks synchronize twice for all bytes instead of once per segment. A slot holds only the
// address of the rank's input. A rank reads the blocks of others when all addresses are known
// (work). Buffers belong to their owners again when all ranks have read (take).
class single_copy final : public pattern {
public:
    single_copy(const call& args, const numa_domains& domains, const local_peers& peers,
                std::pmr::memory_resource* memory);

    // Returns whether no third rank needs the same block, each block is at least
    // `single_copy_bytes` long, and the result is short enough that copying it past the caches
    // would not be faster.
    [[nodiscard]] static bool is_worthwhile(const call& args, const geometry& layout,
                                            const tuning& params) noexcept;

    [[nodiscard]] const char* description() const noexcept override { return "single copy"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned, std::uint64_t,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t, const segment_buffers&) noexcept override {}

private:
    [[nodiscard]] bool is_alltoall() const noexcept {
        return args_.kind == schedule::collective::alltoall;
    }
    [[nodiscard]] std::size_t bytes(rank_t rank) const noexcept {
        return blocks_[rank].size(0) * args_.element;
    }
    // Offset of a rank's block in the buffer with all blocks.
    [[nodiscard]] std::size_t offset(rank_t rank) const noexcept {
        return blocks_[rank].offset() * args_.element;
    }

    const local_peers& peers_;
    std::pmr::vector<chunked_block> blocks_;
    // Copy of the input of an alltoall in place, which results overwrite before all ranks have read
    // it.
    std::unique_ptr<std::byte[]> spare_;
};

}  // namespace ucg::node
