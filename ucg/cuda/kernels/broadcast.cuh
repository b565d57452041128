// Broadcast of the root's block.
//
// `broadcast`: the root copies a piece into its slice, and all ranks copy it from there. The root's
// link carries the block once for each other rank.
//
// `broadcast_in_parts`, for long blocks: each rank first copies one part of the piece from the
// root's slice into its own, and then the parts of all ranks into the output (scatter and
// allgather, as van de Geijn has it). Each link then carries the block about twice, for any number
// of ranks.
#pragma once

#include "ucg/cuda/kernels/channel.cuh"

namespace ucg::cuda::kernels {

UCG_DEVICE void broadcast(const parameters& args) {
    channel channel(args);
    const bool is_root = args.rank == args.root;
    for (rounds round(channel, block_bytes(args)); round.has_bytes(); round.advance()) {
        if (is_root)
            copy_bytes(channel.slice(args.root), input_of(args) + round.offset(), round.bytes());
        if (!channel.meet()) return;
        if (!is_root || args.into != args.from)
            copy_bytes(output_of(args) + round.offset(), channel.slice(args.root), round.bytes());
    }
    channel.close();
}

UCG_DEVICE void broadcast_in_parts(const parameters& args) {
    channel channel(args);
    for (rounds round(channel, block_bytes(args)); round.has_bytes(); round.advance()) {
        const std::uint64_t bytes = round.bytes();
        std::byte* const own = channel.slice(args.rank);
        if (args.rank == args.root) copy_bytes(own, input_of(args) + round.offset(), bytes);
        if (!channel.meet()) return;
        const range part = part_of(bytes, args.rank, args.ranks);
        if (args.rank != args.root)
            copy_bytes(own + part.begin, channel.slice(args.root) + part.begin, part.bytes());
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
