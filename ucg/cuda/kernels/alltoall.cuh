// Alltoall of equal blocks: each rank copies a piece of every block into its slice, and then, from
// the slice of each rank, the piece that is for this rank.
#pragma once

#include "ucg/cuda/kernels/channel.cuh"

namespace ucg::cuda::kernels {

// Copies this round's piece of the block for each rank into the own slice.
UCG_DEVICE void give_blocks(const parameters& args, const channel& channel, const rounds& round) {
    for (std::uint32_t peer = 0; peer < args.ranks; ++peer)
        copy_bytes(channel.slice(args.rank) + round.position(peer),
                   input_of(args) + peer * block_bytes(args) + round.offset(), round.bytes());
}

UCG_DEVICE void alltoall(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args), args.ranks); round.has_bytes(); round.advance()) {
        give_blocks(args, channel, round);
        if (!channel.meet()) return;
        for (std::uint32_t step = 0; step < args.ranks; ++step) {
            const std::uint32_t peer = turn(args, step);
            copy_bytes(output_of(args) + peer * block_bytes(args) + round.offset(),
                       channel.slice(peer) + round.position(args.rank), round.bytes());
        }
    }
    channel.close();
}

}  // namespace ucg::cuda::kernels
