// Declarations for the exported functions, which a program calls instead of the MPI's. All other
// symbols are hidden.
#pragma once

#include <mpi.h>

// Open MPI 4 has persistent collectives under its own names, MPIX_..._init; Open MPI 5 has the
// names of MPI 4. A library that is built with the headers of Open MPI 4 serves both, because both
// libraries have the same name and interface (libmpi.so.40). A function that only one of them has
// is a weak reference, which is null with the other.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define UCG_MPI_SERVES_OPEN_MPI_5 1
#include <mpi-ext.h>

#include <later_calls.hpp>  // written by make_calls.py

#pragma weak PMPIX_Barrier_init
#pragma weak PMPIX_Bcast_init
#pragma weak PMPIX_Reduce_init
#pragma weak PMPIX_Allreduce_init
#pragma weak PMPIX_Allgather_init
#pragma weak PMPIX_Allgatherv_init
#pragma weak PMPIX_Alltoall_init
#pragma weak PMPIX_Alltoallv_init
#pragma weak PMPIX_Reduce_scatter_init
#pragma weak PMPIX_Reduce_scatter_block_init
#else
#define UCG_MPI_SERVES_OPEN_MPI_5 0
#endif

// Functions of MPI 4 except those with large counts: Open MPI 5 has them although it reports MPI
// 3.1.
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
#define UCG_MPI_HAS_CALLS_OF_4 1
#else
#define UCG_MPI_HAS_CALLS_OF_4 0
#endif

namespace ucg::mpi {

// Calls a function of the MPI that the MPI of this run may lack.
template<class... Parameters, class... Args>
int pass_on(int (*call)(Parameters...), Args... args) noexcept {
    if (call != nullptr) return call(args...);
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace ucg::mpi
