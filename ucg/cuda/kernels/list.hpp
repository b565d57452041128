// The list of the collective kernels, and the entries of the image that run them.
//
// An entry is a kernel that the driver launches. There are two, each with the kernels of one list:
// the functions that reduce are large, and ptxas copies them into each entry that calls them.
#pragma once

#include <cstdint>

// clang-format off
// X(name). In the following, a block is `count` elements.
//
//   name                from             into             in place: into ==
//   barrier             -                -
//   broadcast           root: one block  one block        from
//   broadcast_in_parts  the same, for long blocks
//   allgather           one block        a block of each  from - rank * block
//   alltoall            a block to each  a block of each  from
#define UCG_CUDA_COPYING(X) \
    X(barrier)              \
    X(broadcast)            \
    X(broadcast_in_parts)   \
    X(allgather)            \
    X(alltoall)
//   allreduce_one_shot  one block        one block        from
//   allreduce_two_shot  the same, for long blocks
//   reduce_scatter      a block to each  one block        from, or from + rank * block
#define UCG_CUDA_REDUCING(X) \
    X(allreduce_one_shot)    \
    X(allreduce_two_shot)    \
    X(reduce_scatter)
// clang-format on

namespace ucg::cuda {

// parameters::run.
enum class kernel : std::uint8_t {
#define UCG_CUDA_NAME(name) name,
    UCG_CUDA_COPYING(UCG_CUDA_NAME) UCG_CUDA_REDUCING(UCG_CUDA_NAME)
#undef UCG_CUDA_NAME
};

// Symbols of the entries.
inline constexpr const char* copying_entry = "hawser_copying";
inline constexpr const char* reducing_entry = "hawser_reducing";

[[nodiscard]] constexpr const char* entry_of(kernel run) noexcept {
    return run < kernel::allreduce_one_shot ? copying_entry : reducing_entry;
}

}  // namespace ucg::cuda
