// Allgather: each rank copies a piece of its block into its slice, and then the pieces of all ranks
// into the output.
#pragma once

#include "ucg/cuda/kernels/channel.cuh"

namespace ucg::cuda::kernels {

UCG_DEVICE void allgather(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args)); round.has_bytes(); round.advance()) {
        copy_bytes(channel.slice(args.rank), input_of(args) + round.offset(), round.bytes());
        if (!channel.meet()) return;
        for (std::uint32_t step = 0; step < args.ranks; ++step) {
            const std::uint32_t peer = turn(args, step);
            copy_bytes(output_of(args) + peer * block_bytes(args) + round.offset(),
                       channel.slice(peer), round.bytes());
        }
    }
    channel.close();
}

}  // namespace ucg::cuda::kernels
