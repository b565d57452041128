// MPI's collectives that ucg serves, blocking and non-blocking.
#include "ucg/mpi/call.hpp"
#include "ucg/mpi/exported.hpp"

using namespace ucg::mpi;

int MPI_Barrier(MPI_Comm comm) {
    return do_blocking(
        function::barrier, comm,
        [&](prepared& call, served& of) { return describe_barrier(call, of); },
        [&] { return PMPI_Barrier(comm); });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::barrier, comm, request,
        [&](prepared& call, served& of) { return describe_barrier(call, of); },
        [&] { return PMPI_Ibarrier(comm, request); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return do_blocking(
        function::bcast, comm,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Bcast(buffer, count, type, root, comm); });
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
    return do_nonblocking(
        function::bcast, comm, request,
        [&](prepared& call, served& of) {
            return describe_bcast(call, of, buffer, count, type, root);
        },
        [&] { return PMPI_Ibcast(buffer, count, type, root, comm, request); });
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    return do_blocking(
        function::reduce, comm,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Reduce(in, out, count, type, op, root, comm); });
}

int MPI_Ireduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce(call, of, in, out, count, type, op, root);
        },
        [&] { return PMPI_Ireduce(in, out, count, type, op, root, comm, request); });
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    return do_blocking(
        function::allreduce, comm,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Allreduce(in, out, count, type, op, comm); });
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::allreduce, comm, request,
        [&](prepared& call, served& of) {
            return describe_allreduce(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Iallreduce(in, out, count, type, op, comm, request); });
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::allgather, comm,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] { return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::allgather, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgather(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, request);
        });
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
                   const int* places, MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::allgatherv, comm,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<int, int>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Allgatherv(in, in_count, in_type, out, counts, places, out_type, comm);
        });
}

int MPI_Iallgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                    const int* counts, const int* places, MPI_Datatype out_type, MPI_Comm comm,
                    MPI_Request* request) {
    return do_nonblocking(
        function::allgatherv, comm, request,
        [&](prepared& call, served& of) {
            return describe_allgatherv(call, of, in, in_count, in_type, out,
                                       blocks_of<int, int>{counts, places}, out_type);
        },
        [&] {
            return PMPI_Iallgatherv(in, in_count, in_type, out, counts, places, out_type, comm,
                                    request);
        });
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
    return do_blocking(
        function::alltoall, comm,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] { return PMPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::alltoall, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoall(call, of, in, in_count, in_type, out, out_count, out_type);
        },
        [&] {
            return PMPI_Ialltoall(in, in_count, in_type, out, out_count, out_type, comm, request);
        });
}

int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type,
                  void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type,
                  MPI_Comm comm) {
    return do_blocking(
        function::alltoallv, comm,
        [&](prepared& call, served& of) {
            return describe_alltoallv(call, of, in, blocks_of<int, int>{in_counts, in_places},
                                      in_type, out, blocks_of<int, int>{out_counts, out_places},
                                      out_type);
        },
        [&] {
            return PMPI_Alltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places,
                                  out_type, comm);
        });
}

int MPI_Ialltoallv(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type,
                   void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::alltoallv, comm, request,
        [&](prepared& call, served& of) {
            return describe_alltoallv(call, of, in, blocks_of<int, int>{in_counts, in_places},
                                      in_type, out, blocks_of<int, int>{out_counts, out_places},
                                      out_type);
        },
        [&] {
            return PMPI_Ialltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places,
                                   out_type, comm, request);
        });
}

int MPI_Reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
    return do_blocking(
        function::reduce_scatter, comm,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Reduce_scatter(in, out, counts, type, op, comm); });
}

int MPI_Ireduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce_scatter, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter(call, of, in, out, counts, type, op);
        },
        [&] { return PMPI_Ireduce_scatter(in, out, counts, type, op, comm, request); });
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
    return do_blocking(
        function::reduce_scatter_block, comm,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Reduce_scatter_block(in, out, count, type, op, comm); });
}

int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
    return do_nonblocking(
        function::reduce_scatter_block, comm, request,
        [&](prepared& call, served& of) {
            return describe_reduce_scatter_block(call, of, in, out, count, type, op);
        },
        [&] { return PMPI_Ireduce_scatter_block(in, out, count, type, op, comm, request); });
}
