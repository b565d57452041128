// Persistent collectives, under the names that this MPI has for them.
#include "ucg/mpi/call.hpp"
#include "ucg/mpi/exported.hpp"

using namespace ucg::mpi;

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::barrier, comm, request,
        [&](prepared& call, served& of) { return describe_barrier(call, of); },
        [&] { return PMPI_Barrier_init(comm, info, request); });
}

int MPI_Bcast_init(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::bcast, comm, request,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Bcast_init(buffer, count, type, root, comm, info, request); });
}

int MPI_Reduce_init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Reduce_init(in, out, count, type, op, root, comm, info, request); });
}

int MPI_Allreduce_init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::allreduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Allreduce_init(in, out, count, type, op, comm, info, request); });
}

int MPI_Allgather_init(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                       MPI_Datatype out_type, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::allgather, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Allgather_init(in, in_count, in_type, out, out_count, out_type, comm, info,
                                       request);
        });
}

int MPI_Allgatherv_init(const void* in, int in_count, MPI_Datatype in_type, void* out,
                        const int* counts, const int* places, MPI_Datatype out_type, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::allgatherv, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<int, int>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Allgatherv_init(in, in_count, in_type, out, counts, places, out_type, comm,
                                        info, request);
        });
}

int MPI_Alltoall_init(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                      MPI_Datatype out_type, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::alltoall, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Alltoall_init(in, in_count, in_type, out, out_count, out_type, comm, info,
                                      request);
        });
}

int MPI_Alltoallv_init(const void* in, const int* in_counts, const int* in_places,
                       MPI_Datatype in_type, void* out, const int* out_counts,
                       const int* out_places, MPI_Datatype out_type, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
    return do_persistent(
        function::alltoallv, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoallv(call, of, in, blocks_of<int, int>{in_counts, in_places},
                                      in_type, out, blocks_of<int, int>{out_counts, out_places},
                                      out_type);
        },
        [&] {
            return PMPI_Alltoallv_init(in, in_counts, in_places, in_type, out, out_counts,
                                       out_places, out_type, comm, info, request);
        });
}

int MPI_Reduce_scatter_init(const void* in, void* out, const int* counts, MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce_scatter, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Reduce_scatter_init(in, out, counts, type, op, comm, info, request); });
}

int MPI_Reduce_scatter_block_init(const void* in, void* out, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return do_persistent(
        function::reduce_scatter_block, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] {
            return PMPI_Reduce_scatter_block_init(in, out, count, type, op, comm, info, request);
        });
}
