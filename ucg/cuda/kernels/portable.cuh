// The few functions by which device code differs from C++.
//
// nvcc compiles the kernels for the device, and these functions are its instructions. The host
// compiler compiles the same kernels for tests: the functions are then those of the fiber runner
// (test/cuda/fibers), which runs each thread of a block as a fiber.
//
// All threads of a block call block_barrier() and block_any() equally often, and all threads of a
// warp call the functions of warps. Both mean every thread of the launch: no thread may have ended.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define UCG_DEVICE __device__ __forceinline__
// A function that is compiled once and called by many kernels.
#define UCG_DEVICE_CALL __device__ __noinline__
// A loop that the compiler unrolls, or must not unroll.
#define UCG_UNROLL _Pragma("unroll")
#define UCG_ROLL _Pragma("unroll 1")
#else
#define UCG_DEVICE inline
#define UCG_DEVICE_CALL inline
#define UCG_UNROLL
#define UCG_ROLL
#endif

namespace ucg::cuda::kernels {

inline constexpr unsigned warp_size = 32;

#if defined(__CUDACC__)

inline constexpr unsigned all_lanes = 0xffffffffU;

UCG_DEVICE unsigned thread_index() {
    return threadIdx.x;
}
UCG_DEVICE unsigned thread_count() {
    return blockDim.x;
}
UCG_DEVICE unsigned block_index() {
    return blockIdx.x;
}
UCG_DEVICE unsigned block_count() {
    return gridDim.x;
}

// The dynamic shared memory of the block.
UCG_DEVICE std::byte* shared_memory() {
    extern __shared__ uint4 dynamic_shared_memory[];
    return reinterpret_cast<std::byte*>(dynamic_shared_memory);
}

UCG_DEVICE void block_barrier() {
    __syncthreads();
}
// A barrier that also returns, to every thread, whether `value` is true in any thread.
UCG_DEVICE bool block_any(bool value) {
    return __syncthreads_or(value ? 1 : 0) != 0;
}

UCG_DEVICE void warp_barrier() {
    __syncwarp();
}
// Returns a bit for each lane: its `value`.
UCG_DEVICE std::uint32_t warp_ballot(bool value) {
    return __ballot_sync(all_lanes, value ? 1 : 0);
}
// Returns the value of another lane (modulo 32).
UCG_DEVICE std::uint32_t warp_shuffle(std::uint32_t value, unsigned lane) {
    return __shfl_sync(all_lanes, value, static_cast<int>(lane));
}
UCG_DEVICE std::uint64_t warp_shuffle(std::uint64_t value, unsigned lane) {
    return __shfl_sync(all_lanes, static_cast<unsigned long long>(value), static_cast<int>(lane));
}

// A load of a word that another block may store meanwhile. It orders nothing.
UCG_DEVICE std::uint64_t load_relaxed(const std::uint64_t* from) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}
// Flags between devices, processes and the host. An acquiring load that returns the value of a
// releasing store makes all earlier stores of the storing thread visible, and those that it knows
// of by a barrier.
UCG_DEVICE std::uint32_t load_acquire(const std::uint32_t* from) {
    std::uint32_t value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
UCG_DEVICE std::uint64_t load_acquire(const std::uint64_t* from) {
    unsigned long long value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}
UCG_DEVICE void store_release(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.release.sys.u64 [%0], %1;"
                 :
                 : "l"(to), "l"(static_cast<unsigned long long>(value))
                 : "memory");
}

// Stores `value` if the word is 0. Returns the word that is there now. Only of the own device.
UCG_DEVICE std::uint64_t set_once(std::uint64_t* word, std::uint64_t value) {
    const auto before = atomicCAS(reinterpret_cast<unsigned long long*>(word), 0ULL,
                                  static_cast<unsigned long long>(value));
    return before == 0 ? value : before;
}

// Waits a moment in a loop that waits for a flag; long after many turns.
UCG_DEVICE void spin_pause(unsigned turns) {
    if (turns > 4096) __nanosleep(200);
}

// A clock that all devices and threads of a process may compare only with itself.
UCG_DEVICE std::uint64_t nanoseconds() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

#else

// Defined by the fiber runner, with the meaning of the functions above.
unsigned thread_index();
unsigned thread_count();
unsigned block_index();
unsigned block_count();
std::byte* shared_memory();
void block_barrier();
bool block_any(bool value);
void warp_barrier();
std::uint32_t warp_ballot(bool value);
std::uint32_t warp_shuffle(std::uint32_t value, unsigned lane);
std::uint64_t warp_shuffle(std::uint64_t value, unsigned lane);
std::uint64_t load_relaxed(const std::uint64_t* from);
std::uint32_t load_acquire(const std::uint32_t* from);
std::uint64_t load_acquire(const std::uint64_t* from);
void store_release(std::uint64_t* to, std::uint64_t value);
std::uint64_t set_once(std::uint64_t* word, std::uint64_t value);
void spin_pause(unsigned turns);
std::uint64_t nanoseconds();

#endif

UCG_DEVICE unsigned lane_index() {
    return thread_index() % warp_size;
}
// A vote of the warp: whether `value` is true in any lane, and in all of them.
UCG_DEVICE bool warp_any(bool value) {
    return warp_ballot(value) != 0;
}
UCG_DEVICE bool warp_all(bool value) {
    return warp_ballot(!value) == 0;
}

}  // namespace ucg::cuda::kernels
