// The functions of ucg/cuda/kernels/portable.cuh on the host.
#include "ucg/cuda/kernels/portable.cuh"

#include <chrono>

#include "test/cuda/fibers/worker.hpp"

namespace ucg::cuda::kernels {
namespace {

using fibers::meeting;
using fibers::worker;

fibers::block& running_block() {
    return *worker::current().running().owner;
}

template<class Word>
Word acquire(const Word* from) {
    worker::current().may_pass(true);
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

}  // namespace

unsigned thread_index() {
    return worker::current().running().index;
}
unsigned thread_count() {
    return running_block().thread_count();
}
unsigned block_index() {
    return running_block().index();
}
unsigned block_count() {
    return worker::current().block_count();
}
std::byte* shared_memory() {
    return running_block().shared_memory();
}

void block_barrier() {
    worker::current().meet(meeting::block_barrier);
}
bool block_any(bool value) {
    return worker::current().meet(meeting::block_any, value ? 1 : 0) != 0;
}
void warp_barrier() {
    worker::current().meet(meeting::warp_barrier);
}
std::uint32_t warp_ballot(bool value) {
    return static_cast<std::uint32_t>(worker::current().meet(meeting::warp_ballot, value ? 1 : 0));
}
std::uint32_t warp_shuffle(std::uint32_t value, unsigned lane) {
    return static_cast<std::uint32_t>(warp_shuffle(std::uint64_t{value}, lane));
}
std::uint64_t warp_shuffle(std::uint64_t value, unsigned lane) {
    return worker::current().meet(meeting::warp_shuffle, value, lane);
}

std::uint64_t load_relaxed(const std::uint64_t* from) {
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
std::uint32_t load_acquire(const std::uint32_t* from) {
    return acquire(from);
}
std::uint64_t load_acquire(const std::uint64_t* from) {
    return acquire(from);
}
// A switch before the store and after it shows stores that come too late for their flag.
void store_release(std::uint64_t* to, std::uint64_t value) {
    worker::current().may_pass(false);
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
    worker::current().may_pass(false);
}

std::uint64_t set_once(std::uint64_t* word, std::uint64_t value) {
    std::uint64_t before = 0;
    const bool is_set = __atomic_compare_exchange_n(word, &before, value, false, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED);
    return is_set ? value : before;
}

void spin_pause(unsigned) {
    worker::current().pass(true);
}

std::uint64_t nanoseconds() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

}  // namespace ucg::cuda::kernels
