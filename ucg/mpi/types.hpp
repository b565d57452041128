// What MPI's types and operators are to ucg.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ucg::mpi {

// Elements of a type in memory. `dense`: they are bytes that follow each other without a gap and in
// order, so that MPI would send them as they lie.
struct layout {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::uint64_t size = 0;     // bytes of data, or `unknown`
    std::ptrdiff_t extent = 0;  // from one element to the next
    bool dense = false;

    // Of what MPI refuses, or cannot say in its numbers: no element of it fits anywhere.
    static constexpr std::uint64_t unknown = ~std::uint64_t{0};
};

// Of any type that is committed. Depends on the rank's own description only, so nothing that must
// be decided alike on all ranks may depend on `extent` or `dense`.
layout layout_of(MPI_Datatype type) noexcept;

// What a reduction is made of. Only what MPI defines for the pair is allowed.
struct reducing {
    ucg_type_t type = UCG_TYPE_LAST;
    ucg_op_t op = UCG_OP_LAST;
    bool type_known = false;
    bool op_known = false;  // for this type
};
reducing reducing_of(MPI_Datatype type, MPI_Op op) noexcept;

// Reads sizes from MPI; once, between MPI_Init and all other calls.
void learn_types() noexcept;

// So many bytes behind an address. Reckoned as numbers: the address may be MPI_BOTTOM, which is
// null.
inline std::byte* shifted(const void* base, std::ptrdiff_t by) noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                        static_cast<std::uintptr_t>(by));
}

// A handle as a number: a pointer with some MPIs, an integer with others.
template<class Handle>
std::uint64_t number_of(Handle handle) noexcept {
    if constexpr (requires { reinterpret_cast<std::uintptr_t>(handle); })
        return reinterpret_cast<std::uintptr_t>(handle);
    else
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(handle));
}

}  // namespace ucg::mpi
