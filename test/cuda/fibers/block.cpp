#include "test/cuda/fibers/block.hpp"

#include <algorithm>
#include <array>

#include "ucg/cuda/kernels/portable.cuh"

namespace fibers {
namespace {

using ucg::cuda::kernels::warp_size;

constexpr std::array<const char*, 6> names{
    "", "block_barrier", "block_any", "warp_barrier", "warp_ballot", "warp_shuffle"};

const char* name_of(meeting kind) {
    return names[static_cast<std::size_t>(kind)];
}

bool is_of_warp(meeting kind) {
    return kind >= meeting::warp_barrier;
}

// Returns the bits that a vote of these threads gives.
std::uint64_t ballot_of(const gpu_thread* first, std::size_t count) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i)
        bits |= std::uint64_t{first[i].value != 0} << (i % 64);
    return bits;
}

}  // namespace

// Shared memory is not initialized on a device.
block::block(unsigned index, unsigned threads, std::size_t shared_bytes)
    : index_(index),
      threads_(threads),
      shared_(shared_bytes, std::byte{0xa5}),
      in_warp_meeting_((threads + warp_size - 1) / warp_size) {
    for (unsigned i = 0; i < threads; ++i) {
        threads_[i].owner = this;
        threads_[i].index = i;
    }
}

void block::arrive(gpu_thread& thread, std::vector<gpu_thread*>& ready) {
    const bool of_warp = is_of_warp(thread.waits_in);
    const std::size_t warp = thread.index / warp_size;
    const std::size_t begin = of_warp ? warp * warp_size : 0;
    const std::size_t end =
        of_warp ? std::min<std::size_t>(begin + warp_size, threads_.size()) : threads_.size();
    std::size_t& arrived = of_warp ? in_warp_meeting_[warp] : in_block_meeting_;
    if (++arrived < end - begin) return;
    arrived = 0;
    finish(&threads_[begin], end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        threads_[i].waits_in = meeting::none;
        ready.push_back(&threads_[i]);
    }
}

// Gives each of these threads its result.
void block::finish(gpu_thread* first, std::size_t count) {
    const meeting kind = first->waits_in;
    for (std::size_t i = 0; i < count; ++i) {
        if (first[i].waits_in != kind)
            throw place_of(*first) + " is in " + name_of(kind) + " while " + place_of(first[i]) +
                " is in " + name_of(first[i].waits_in);
    }
    const std::uint64_t ballot = ballot_of(first, count);
    for (std::size_t i = 0; i < count; ++i) {
        gpu_thread& thread = first[i];
        if (kind == meeting::warp_shuffle) {
            const unsigned lane = thread.lane % warp_size;
            if (lane >= count)
                throw place_of(thread) + " reads lane " + std::to_string(lane) +
                    " of a warp with " + std::to_string(count) + " threads";
            thread.result = first[lane].value;
        } else {
            thread.result = kind == meeting::block_any ? std::uint64_t{ballot != 0} : ballot;
        }
    }
}

std::string block::place_of(const gpu_thread& thread) const {
    return "block " + std::to_string(index_) + ", thread " + std::to_string(thread.index);
}

std::string block::description() const {
    std::array<std::size_t, names.size()> waiting{};
    std::size_t ended = 0;
    for (const gpu_thread& thread : threads_) {
        if (thread.body.has_ended())
            ended += 1;
        else
            waiting[static_cast<std::size_t>(thread.waits_in)] += 1;
    }
    if (ended == threads_.size()) return {};
    std::string text = "block " + std::to_string(index_) + ": " + std::to_string(ended) + " of " +
                       std::to_string(threads_.size()) + " threads have ended";
    if (waiting[0] != 0) text += ", " + std::to_string(waiting[0]) + " run";
    for (std::size_t kind = 1; kind < names.size(); ++kind) {
        if (waiting[kind] != 0)
            text += ", " + std::to_string(waiting[kind]) + " wait in " + names[kind];
    }
    return text;
}

}  // namespace fibers
