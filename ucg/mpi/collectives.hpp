// Macros that define the collectives that ucg serves, each listed once. A collective has three
// functions of MPI, and three more with large counts that differ only in the types of counts and
// displacements. C functions cannot be templates, hence the macros.
#pragma once

#include "ucg/mpi/call.hpp"
#include "ucg/mpi/exported.hpp"

// The arguments, followed by a comma if there are any.
#define UCG_MPI_BEFORE(...) __VA_ARGS__ __VA_OPT__(, )

// Defines MPI_NAME, MPI_INAME and MPI_NAME_init, whose names end with END. KIND: the collective's
// name in ucg. PARAMETERS: the parameters in brackets, without the communicator and those after it;
// their names follow, as describe_KIND takes them.
#define UCG_MPI_TAKE(END, NAME, INAME, KIND, PARAMETERS, ...)                                     \
    int MPI_##NAME##END(UCG_MPI_BEFORE PARAMETERS MPI_Comm comm) {                                \
        return do_collective(function::KIND, form::blocking, comm,                                \
                             UCG_MPI_DESCRIBE(KIND, __VA_ARGS__), run_blocking,                   \
                             [&] { return PMPI_##NAME##END(UCG_MPI_BEFORE(__VA_ARGS__) comm); }); \
    }                                                                                             \
    int MPI_##INAME##END(UCG_MPI_BEFORE PARAMETERS MPI_Comm comm, MPI_Request* request) {         \
        return do_collective(                                                                     \
            function::KIND, form::nonblocking, comm, UCG_MPI_DESCRIBE(KIND, __VA_ARGS__),         \
            UCG_MPI_WITH_REQUEST(start_nonblocking),                                              \
            [&] { return PMPI_##INAME##END(UCG_MPI_BEFORE(__VA_ARGS__) comm, request); });        \
    }                                                                                             \
    UCG_MPI_TAKE_PERSISTENT(MPI_, PMPI_, NAME##_init##END, KIND, PARAMETERS, __VA_ARGS__)         \
    UCG_MPI_TAKE_EXTENSION(NAME##_init##END, KIND, PARAMETERS, __VA_ARGS__)

#define UCG_MPI_TAKE_PERSISTENT(PREFIX, ITS_PREFIX, NAME, KIND, PARAMETERS, ...)                   \
    int PREFIX##NAME(UCG_MPI_BEFORE PARAMETERS MPI_Comm comm, MPI_Info info,                       \
                     MPI_Request* request) {                                                       \
        return do_collective(                                                                      \
            function::KIND, form::persistent, comm, UCG_MPI_DESCRIBE(KIND, __VA_ARGS__),           \
            UCG_MPI_WITH_REQUEST(make_persistent), [&] {                                           \
                return pass_on(ITS_PREFIX##NAME, UCG_MPI_BEFORE(__VA_ARGS__) comm, info, request); \
            });                                                                                    \
    }

#define UCG_MPI_DESCRIBE(KIND, ...)                                       \
    [&](prepared_call& call, const comm_info& members) {                  \
        return describe_##KIND(call, members __VA_OPT__(, ) __VA_ARGS__); \
    }
#define UCG_MPI_WITH_REQUEST(START) \
    [&](comm_state& state, prepared_call& call) { return START(state, call, request); }

// The name of the persistent form in Open MPI 4.
#if UCG_MPI_SERVES_OPEN_MPI_5
#define UCG_MPI_TAKE_EXTENSION(NAME, KIND, PARAMETERS, ...) \
    UCG_MPI_TAKE_PERSISTENT(MPIX_, PMPIX_, NAME, KIND, PARAMETERS, __VA_ARGS__)
#else
#define UCG_MPI_TAKE_EXTENSION(NAME, KIND, PARAMETERS, ...)
#endif

// All collectives with counts, of the types COUNT and PLACE.
#define UCG_MPI_TAKE_ALL(END, COUNT, PLACE)                                                        \
    UCG_MPI_TAKE(END, Bcast, Ibcast, bcast,                                                        \
                 (void* buffer, COUNT count, MPI_Datatype type, int root), buffer, count, type,    \
                 root)                                                                             \
    UCG_MPI_TAKE(END, Reduce, Ireduce, reduce,                                                     \
                 (const void* in, void* out, COUNT count, MPI_Datatype type, MPI_Op op, int root), \
                 in, out, count, type, op, root)                                                   \
    UCG_MPI_TAKE(END, Allreduce, Iallreduce, allreduce,                                            \
                 (const void* in, void* out, COUNT count, MPI_Datatype type, MPI_Op op), in, out,  \
                 count, type, op)                                                                  \
    UCG_MPI_TAKE(END, Allgather, Iallgather, allgather,                                            \
                 (const void* in, COUNT in_count, MPI_Datatype in_type, void* out,                 \
                  COUNT out_count, MPI_Datatype out_type),                                         \
                 in, in_count, in_type, out, out_count, out_type)                                  \
    UCG_MPI_TAKE(END, Allgatherv, Iallgatherv, allgatherv,                                         \
                 (const void* in, COUNT in_count, MPI_Datatype in_type, void* out,                 \
                  const COUNT* counts, const PLACE* places, MPI_Datatype out_type),                \
                 in, in_count, in_type, out, counts, places, out_type)                             \
    UCG_MPI_TAKE(END, Alltoall, Ialltoall, alltoall,                                               \
                 (const void* in, COUNT in_count, MPI_Datatype in_type, void* out,                 \
                  COUNT out_count, MPI_Datatype out_type),                                         \
                 in, in_count, in_type, out, out_count, out_type)                                  \
    UCG_MPI_TAKE(                                                                                  \
        END, Alltoallv, Ialltoallv, alltoallv,                                                     \
        (const void* in, const COUNT* in_counts, const PLACE* in_places, MPI_Datatype in_type,     \
         void* out, const COUNT* out_counts, const PLACE* out_places, MPI_Datatype out_type),      \
        in, in_counts, in_places, in_type, out, out_counts, out_places, out_type)                  \
    UCG_MPI_TAKE(END, Reduce_scatter, Ireduce_scatter, reduce_scatter,                             \
                 (const void* in, void* out, const COUNT* counts, MPI_Datatype type, MPI_Op op),   \
                 in, out, counts, type, op)                                                        \
    UCG_MPI_TAKE(END, Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block,           \
                 (const void* in, void* out, COUNT count, MPI_Datatype type, MPI_Op op), in, out,  \
                 count, type, op)
