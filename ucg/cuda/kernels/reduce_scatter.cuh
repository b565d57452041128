// Reduce-scatter of equal blocks: each rank copies a piece of every block into its slice, as in an
// alltoall, and then reduces the pieces of its own block from the slices of all ranks, in the order
// of ranks.
#pragma once

#include "ucg/cuda/kernels/alltoall.cuh"
#include "ucg/cuda/kernels/reduce.cuh"

namespace ucg::cuda::kernels {

UCG_DEVICE void reduce_scatter(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args), args.ranks); round.has_bytes(); round.advance()) {
        give_blocks(args, channel, round);
        if (!channel.meet()) return;
        reduce_piece(args, {output_of(args) + round.offset(),
                            channel.slice_offset() + round.position(args.rank), round.bytes()});
    }
    channel.close();
}

}  // namespace ucg::cuda::kernels
