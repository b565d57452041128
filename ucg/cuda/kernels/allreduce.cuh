// Allreduce inside a node. Both kernels reduce in the order of ranks and round once, so all ranks
// get the same bits, and the two kernels do, too.
//
// `allreduce_one_shot`, for short vectors: each rank copies a piece into its slice, and reduces the
// slices of all ranks into its output. There is one wait, and each rank reads everything.
//
// `allreduce_two_shot`, for long vectors: each rank reduces one part of the piece from the slices
// of all ranks into its own slice, and after a second wait copies the parts of all ranks. A rank
// reads its part of a slice only itself until then, so the result may overwrite the input there.
//
// Source: the one-stage and two-stage kernels of vLLM (csrc/custom_all_reduce.cuh), and the
// all-pairs algorithms of MSCCL++.
#pragma once

#include "ucg/cuda/kernels/channel.cuh"
#include "ucg/cuda/kernels/reduce.cuh"

namespace ucg::cuda::kernels {

UCG_DEVICE void allreduce_one_shot(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args)); round.has_bytes(); round.advance()) {
        copy_bytes(channel.slice(args.rank), input_of(args) + round.offset(), round.bytes());
        if (!channel.meet()) return;
        reduce_piece(args,
                     {output_of(args) + round.offset(), channel.slice_offset(), round.bytes()});
    }
    channel.close();
}

UCG_DEVICE void allreduce_two_shot(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args)); round.has_bytes(); round.advance()) {
        const std::uint64_t bytes = round.bytes();
        std::byte* const own = channel.slice(args.rank);
        copy_bytes(own, input_of(args) + round.offset(), bytes);
        if (!channel.meet()) return;
        const range part = part_of(bytes, args.rank, args.ranks);
        reduce_piece(args, {own + part.begin, channel.slice_offset() + part.begin, part.bytes()});
        if (!channel.meet()) return;
        for (std::uint32_t step = 0; step < args.ranks; ++step) {
            const std::uint32_t peer = turn(args, step);
            const range theirs = part_of(bytes, peer, args.ranks);
            copy_bytes(output_of(args) + round.offset() + theirs.begin,
                       channel.slice(peer) + theirs.begin, theirs.bytes());
        }
    }
    channel.close();
}

}  // namespace ucg::cuda::kernels
