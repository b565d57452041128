// A channel: block b of the launches of all ranks, which exchange data through their slices.
//
// Each rank copies its input into its slice, posts a flag at every rank, waits for the flags of all
// ranks, and then reads their slices. Flags are numbers that only grow, written by one rank each.
// So flags need no reset, and user buffers need not be mapped by other ranks.
//
// A round uses one slice of each rank, and the next round the other one. This suffices: a rank that
// has all flags of a round knows that every rank has finished the round before, so in the next
// round it may overwrite the slice of that one. So no rank waits at the end of a round or launch.
//
// Sources: the custom allreduce kernels of vLLM (csrc/custom_all_reduce.cuh) for flags per block,
// and the scratch buffers of MSCCL++ for copies that alternate between two slices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/cuda/kernels/parameters.hpp"
#include "ucg/cuda/kernels/portable.cuh"
#include "ucg/cuda/kernels/vector.cuh"

namespace ucg::cuda::kernels {

// A range of bytes.
struct range {
    std::uint64_t begin;
    std::uint64_t end;

    UCG_DEVICE std::uint64_t bytes() const { return end - begin; }
};

// Cuts `bytes` bytes into parts of whole vectors, which are equal except at the end.
UCG_DEVICE range part_of(std::uint64_t bytes, std::uint32_t part, std::uint32_t parts) {
    const std::uint64_t vectors = (bytes + vector_bytes - 1) / vector_bytes;
    const std::uint64_t length = (vectors + parts - 1) / parts * vector_bytes;
    const std::uint64_t begin = part * length, end = begin + length;
    return {begin < bytes ? begin : bytes, end < bytes ? end : bytes};
}

// The state of one block in a launch. Every thread has one, with the same values.
class channel {
public:
    UCG_DEVICE explicit channel(const parameters& args)
        : args_(args),
          sequence_(words(args.rank)->sequence),
          rounds_(words(args.rank)->rounds),
          failure_(load_relaxed(&own_control()->failure)) {}

    // Returns this channel's share of a block of `bytes` bytes.
    UCG_DEVICE range share(std::uint64_t bytes) const {
        return part_of(bytes, block_index(), block_count());
    }
    // Returns how many bytes of each of `blocks` blocks fit a slice.
    UCG_DEVICE std::uint64_t capacity(std::uint32_t blocks) const {
        return args_.area.slice_bytes / blocks / vector_bytes * vector_bytes;
    }
    // Returns the slice of a rank in this round. The others' may be read after meet().
    UCG_DEVICE std::byte* slice(std::uint32_t rank) const {
        return args_.areas[rank] + slice_offset();
    }
    UCG_DEVICE std::uint64_t slice_offset() const {
        return args_.area.slice(block_index(), static_cast<std::uint32_t>(rounds_ % 2));
    }

    // Waits until this channel has come here on all ranks. All stores of the block before it are
    // then visible to the others. Returns false, in every thread, if a rank has failed: the block
    // ends.
    UCG_DEVICE bool meet() {
        sequence_ += 1;
        block_barrier();
        const std::uint32_t peer = thread_index();
        if (peer < args_.ranks && failure_ == 0) {
            store_release(&words(peer)->flags[args_.rank], sequence_);
            failure_ = await_flag(peer);
        }
        if (!block_any(failure_ != 0)) return true;
        fail();
        return false;
    }
    // Begins the next round: the other slices are used.
    UCG_DEVICE void end_round() { rounds_ += 1; }
    // Keeps the numbers for the next launch. Called at the end unless meet() returned false.
    UCG_DEVICE void close() const {
        if (thread_index() != 0) return;
        words(args_.rank)->sequence = sequence_;
        words(args_.rank)->rounds = rounds_;
    }

private:
    UCG_DEVICE channel_words* words(std::uint32_t rank) const {
        return reinterpret_cast<channel_words*>(args_.areas[rank] +
                                                args_.area.channel(block_index()));
    }
    UCG_DEVICE control* own_control() const {
        return reinterpret_cast<control*>(args_.areas[args_.rank]);
    }

    // Waits for the flag of a rank. Returns 0, or the word of the failure that ends the launch.
    UCG_DEVICE std::uint64_t await_flag(std::uint32_t peer) const {
        constexpr unsigned turns_between_checks = 256;
        std::uint64_t start = 0;
        for (unsigned turns = 1;; ++turns) {
            const std::uint64_t posted = load_acquire(&words(args_.rank)->flags[peer]);
            if (posted == failed_flag) return keep(failure::peer_failed, peer);
            if (posted >= sequence_) return 0;
            if (turns % turns_between_checks == 0) {
                if (start == 0) start = nanoseconds();
                const std::uint64_t failed = find_failure(peer, nanoseconds() - start);
                if (failed != 0) return failed;
            }
            spin_pause(turns);
        }
    }

    // Returns the reason not to wait for a rank any longer, or 0. Another thread or block of this
    // rank may have given up, and so may a rank that posted its flag before.
    UCG_DEVICE std::uint64_t find_failure(std::uint32_t peer, std::uint64_t waited_ns) const {
        const std::uint64_t known = load_relaxed(&own_control()->failure);
        if (known != 0) return known;
        for (std::uint32_t rank = 0; rank < args_.ranks; ++rank) {
            if (load_relaxed(&words(args_.rank)->flags[rank]) == failed_flag)
                return keep(failure::peer_failed, rank);
        }
        if (load_acquire(args_.abort) != 0) return keep(failure::aborted, peer);
        return waited_ns < args_.timeout_ns ? 0 : keep(failure::timed_out, peer);
    }

    // Keeps a failure, unless this rank has had one before. Returns the word that is kept.
    UCG_DEVICE std::uint64_t keep(failure reason, std::uint32_t peer) const {
        return set_once(&own_control()->failure,
                        failure_word({reason, static_cast<std::uint8_t>(peer),
                                      static_cast<std::uint16_t>(block_index())}));
    }

    // Tells the other ranks that no more flags will come, and the host why.
    UCG_DEVICE void fail() const {
        if (thread_index() < args_.ranks)
            store_release(&words(thread_index())->flags[args_.rank], failed_flag);
        if (thread_index() == 0) store_release(args_.report, load_relaxed(&own_control()->failure));
    }

    const parameters& args_;
    std::uint64_t sequence_;
    std::uint64_t rounds_;
    std::uint64_t failure_;  // that this thread knows of; 0: none
};

// The rounds in which a channel passes its share of blocks through slices:
//
//     for (rounds round(channel, bytes, blocks); round.has_bytes(); round.advance()) …
//
// `blocks` is the number of blocks of which a slice holds a piece.
class rounds {
public:
    UCG_DEVICE rounds(channel& owner, std::uint64_t bytes, std::uint32_t blocks = 1)
        : owner_(owner), left_(owner.share(bytes)), most_(owner.capacity(blocks)) {}

    UCG_DEVICE bool has_bytes() const { return left_.begin < left_.end; }
    UCG_DEVICE void advance() {
        left_.begin += bytes();
        owner_.end_round();
    }

    // The piece of each block that this round is about.
    UCG_DEVICE std::uint64_t offset() const { return left_.begin; }
    UCG_DEVICE std::uint64_t bytes() const { return left_.bytes() < most_ ? left_.bytes() : most_; }
    // Returns where the piece of a block is in the slice.
    UCG_DEVICE std::uint64_t position(std::uint32_t block) const { return block * most_; }

private:
    channel& owner_;
    range left_;
    std::uint64_t most_;
};

UCG_DEVICE const std::byte* input_of(const parameters& args) {
    return static_cast<const std::byte*>(args.from);
}
UCG_DEVICE std::byte* output_of(const parameters& args) {
    return static_cast<std::byte*>(args.into);
}
// Returns the length of a block in bytes.
UCG_DEVICE std::uint64_t block_bytes(const parameters& args) {
    return args.count * args.element_bytes;
}
// Returns the ranks in an order that differs between ranks, so that they do not all read from the
// same one at the same time.
UCG_DEVICE std::uint32_t turn(const parameters& args, std::uint32_t step) {
    const std::uint32_t rank = args.rank + step;
    return rank < args.ranks ? rank : rank - args.ranks;
}

}  // namespace ucg::cuda::kernels
