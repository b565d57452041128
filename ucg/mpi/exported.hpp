// Names that a program finds instead of the MPI's own. Everything else is hidden.
#pragma once

#include <mpi.h>

// Open MPI 4 has persistent collectives under names of its own.
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define PMPI_Barrier_init PMPIX_Barrier_init
#define PMPI_Bcast_init PMPIX_Bcast_init
#define PMPI_Reduce_init PMPIX_Reduce_init
#define PMPI_Allreduce_init PMPIX_Allreduce_init
#define PMPI_Allgather_init PMPIX_Allgather_init
#define PMPI_Allgatherv_init PMPIX_Allgatherv_init
#define PMPI_Alltoall_init PMPIX_Alltoall_init
#define PMPI_Alltoallv_init PMPIX_Alltoallv_init
#define PMPI_Reduce_scatter_init PMPIX_Reduce_scatter_init
#define PMPI_Reduce_scatter_block_init PMPIX_Reduce_scatter_block_init
#endif
