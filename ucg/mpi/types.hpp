// Translation of MPI's types and operators to ucg's.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ucg::mpi {

// The memory layout of a type. `dense`: the elements are contiguous bytes in order, so that MPI
// would send them as they lie.
struct layout {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::uint64_t size = 0;     // bytes of data, or `unknown`
    std::ptrdiff_t extent = 0;  // bytes from one element to the next
    bool dense = false;

    // The size of a type that MPI refuses or whose size overflows: no element of it fits anywhere.
    static constexpr std::uint64_t unknown = ~std::uint64_t{0};
};

// The layout of a committed type. It depends on the rank's own description, so decisions that must
// be equal on all ranks must not depend on `extent` or `dense`.
layout layout_of(MPI_Datatype type) noexcept;

// Type and operator of a reduction. Only the pairs that MPI defines are allowed.
struct reduction_kind {
    ucg_type_t type = UCG_TYPE_LAST;
    ucg_op_t op = UCG_OP_LAST;
    bool type_known = false;
    bool op_known = false;  // for this type
};
reduction_kind reduction_kind_of(MPI_Datatype type, MPI_Op op) noexcept;

// Reads the sizes of types from MPI. Called once, between MPI_Init and all other calls.
void register_types() noexcept;

// Returns the address `offset` bytes behind `base`. Computes with integers, because the address may
// be MPI_BOTTOM, which is null.
inline std::byte* shifted(const void* base, std::ptrdiff_t offset) noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                        static_cast<std::uintptr_t>(offset));
}

// Returns a handle as a number: it is a pointer in some MPIs, and an integer in others.
template<class Handle>
std::uint64_t number_of(Handle handle) noexcept {
    if constexpr (requires { reinterpret_cast<std::uintptr_t>(handle); })
        return reinterpret_cast<std::uintptr_t>(handle);
    else
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(handle));
}

}  // namespace ucg::mpi
