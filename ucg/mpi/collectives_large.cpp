// The same with counts of MPI_Count, where the MPI has them: ranks may mix both in one call.
#include <mpi.h>

#if MPI_VERSION >= 4

#include "ucg/mpi/call.hpp"
#include "ucg/mpi/exported.hpp"

using namespace ucg::mpi;

int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    return do_blocking(
        function::bcast, comm,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Bcast_c(buffer, count, type, root, comm); });
}

int MPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                 MPI_Request* request) {
    return do_nonblocking(
        function::bcast, comm, request,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Ibcast_c(buffer, count, type, root, comm, request); });
}

int MPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::bcast, comm, request,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Bcast_init_c(buffer, count, type, root, comm, info, request); });
}

int MPI_Reduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm) {
    return do_blocking(
        function::reduce, comm,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Reduce_c(in, out, count, type, op, root, comm); });
}

int MPI_Ireduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Ireduce_c(in, out, count, type, op, root, comm, request); });
}

int MPI_Reduce_init_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Reduce_init_c(in, out, count, type, op, root, comm, info, request); });
}

int MPI_Allreduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
    return do_blocking(
        function::allreduce, comm,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Allreduce_c(in, out, count, type, op, comm); });
}

int MPI_Iallreduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::allreduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Iallreduce_c(in, out, count, type, op, comm, request); });
}

int MPI_Allreduce_init_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::allreduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Allreduce_init_c(in, out, count, type, op, comm, info, request); });
}

int MPI_Allgather_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                    MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::allgather, comm,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] { return PMPI_Allgather_c(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Iallgather_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                     MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm,
                     MPI_Request* request) {
    return do_nonblocking(
        function::allgather, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Iallgather_c(in, in_count, in_type, out, out_count, out_type, comm,
                                     request);
        });
}

int MPI_Allgather_init_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                         MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
    return do_persistent(
        function::allgather, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Allgather_init_c(in, in_count, in_type, out, out_count, out_type, comm,
                                         info, request);
        });
}

int MPI_Allgatherv_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                     const MPI_Count* counts, const MPI_Aint* places, MPI_Datatype out_type,
                     MPI_Comm comm) {
    return do_blocking(
        function::allgatherv, comm,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<MPI_Count, MPI_Aint>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Allgatherv_c(in, in_count, in_type, out, counts, places, out_type, comm);
        });
}

int MPI_Iallgatherv_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                      const MPI_Count* counts, const MPI_Aint* places, MPI_Datatype out_type,
                      MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::allgatherv, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<MPI_Count, MPI_Aint>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Iallgatherv_c(in, in_count, in_type, out, counts, places, out_type, comm,
                                      request);
        });
}

int MPI_Allgatherv_init_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                          const MPI_Count* counts, const MPI_Aint* places, MPI_Datatype out_type,
                          MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::allgatherv, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<MPI_Count, MPI_Aint>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Allgatherv_init_c(in, in_count, in_type, out, counts, places, out_type,
                                          comm, info, request);
        });
}

int MPI_Alltoall_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                   MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::alltoall, comm,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] { return PMPI_Alltoall_c(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Ialltoall_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                    MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm,
                    MPI_Request* request) {
    return do_nonblocking(
        function::alltoall, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Ialltoall_c(in, in_count, in_type, out, out_count, out_type, comm, request);
        });
}

int MPI_Alltoall_init_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                        MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
    return do_persistent(
        function::alltoall, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Alltoall_init_c(in, in_count, in_type, out, out_count, out_type, comm, info,
                                        request);
        });
}

int MPI_Alltoallv_c(const void* in, const MPI_Count* in_counts, const MPI_Aint* in_places,
                    MPI_Datatype in_type, void* out, const MPI_Count* out_counts,
                    const MPI_Aint* out_places, MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::alltoallv, comm,
        [&](prepared& call, served& of) {
            return describe_alltoallv(
                call, of, in, blocks_of<MPI_Count, MPI_Aint>{in_counts, in_places}, in_type, out,
                blocks_of<MPI_Count, MPI_Aint>{out_counts, out_places}, out_type);
        },
        [&] {
            return PMPI_Alltoallv_c(in, in_counts, in_places, in_type, out, out_counts, out_places,
                                    out_type, comm);
        });
}

int MPI_Ialltoallv_c(const void* in, const MPI_Count* in_counts, const MPI_Aint* in_places,
                     MPI_Datatype in_type, void* out, const MPI_Count* out_counts,
                     const MPI_Aint* out_places, MPI_Datatype out_type, MPI_Comm comm,
                     MPI_Request* request) {
    return do_nonblocking(
        function::alltoallv, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoallv(
                call, of, in, blocks_of<MPI_Count, MPI_Aint>{in_counts, in_places}, in_type, out,
                blocks_of<MPI_Count, MPI_Aint>{out_counts, out_places}, out_type);
        },
        [&] {
            return PMPI_Ialltoallv_c(in, in_counts, in_places, in_type, out, out_counts, out_places,
                                     out_type, comm, request);
        });
}

int MPI_Alltoallv_init_c(const void* in, const MPI_Count* in_counts, const MPI_Aint* in_places,
                         MPI_Datatype in_type, void* out, const MPI_Count* out_counts,
                         const MPI_Aint* out_places, MPI_Datatype out_type, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::alltoallv, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoallv(
                call, of, in, blocks_of<MPI_Count, MPI_Aint>{in_counts, in_places}, in_type, out,
                blocks_of<MPI_Count, MPI_Aint>{out_counts, out_places}, out_type);
        },
        [&] {
            return PMPI_Alltoallv_init_c(in, in_counts, in_places, in_type, out, out_counts,
                                         out_places, out_type, comm, info, request);
        });
}

int MPI_Reduce_scatter_c(const void* in, void* out, const MPI_Count* counts, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
    return do_blocking(
        function::reduce_scatter, comm,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Reduce_scatter_c(in, out, counts, type, op, comm); });
}

int MPI_Ireduce_scatter_c(const void* in, void* out, const MPI_Count* counts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce_scatter, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Ireduce_scatter_c(in, out, counts, type, op, comm, request); });
}

int MPI_Reduce_scatter_init_c(const void* in, void* out, const MPI_Count* counts, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce_scatter, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Reduce_scatter_init_c(in, out, counts, type, op, comm, info, request); });
}

int MPI_Reduce_scatter_block_c(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm) {
    return do_blocking(
        function::reduce_scatter_block, comm,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Reduce_scatter_block_c(in, out, count, type, op, comm); });
}

int MPI_Ireduce_scatter_block_c(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce_scatter_block, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Ireduce_scatter_block_c(in, out, count, type, op, comm, request); });
}

int MPI_Reduce_scatter_block_init_c(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce_scatter_block, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] {
            return PMPI_Reduce_scatter_block_init_c(in, out, count, type, op, comm, info, request);
        });
}

#endif
