// Calls that create communicators. With UCG_MPI_EAGER=y they also create the group: all ranks of
// the new communicator are in the call and may wait for each other, and later non-blocking
// collectives find the group.
#include "ucg/mpi/comm_state.hpp"
#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/progress.hpp"

using namespace ucg::mpi;

namespace {

template<class Call>
int create_with(MPI_Comm* made, const Call& call) noexcept {
    const int status = call_blocking(call);
    if (status == MPI_SUCCESS && library().active && library().eager && *made != MPI_COMM_NULL)
        comm_state::join_early(*made);
    return status;
}

}  // namespace

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_dup(comm, made); });
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_dup_with_info(comm, info, made); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_create(comm, group, made); });
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_create_group(comm, group, tag, made); });
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_split(comm, color, key, made); });
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}

int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periods[],
                    int reorder, MPI_Comm* made) {
    return create_with(
        made, [&] { return PMPI_Cart_create(comm, dimensions, sizes, periods, reorder, made); });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Cart_sub(comm, remain, made); });
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                     MPI_Comm* made) {
    return create_with(made,
                       [&] { return PMPI_Graph_create(comm, nodes, index, edges, reorder, made); });
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                          const int targets[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm* made) {
    return create_with(made, [&] {
        return PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder,
                                      made);
    });
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in_degree, const int sources[],
                                   const int source_weights[], int out_degree, const int targets[],
                                   const int target_weights[], MPI_Info info, int reorder,
                                   MPI_Comm* made) {
    return create_with(made, [&] {
        return PMPI_Dist_graph_create_adjacent(comm, in_degree, sources, source_weights, out_degree,
                                               targets, target_weights, info, reorder, made);
    });
}

int MPI_Intercomm_merge(MPI_Comm between, int high, MPI_Comm* made) {
    return create_with(made, [&] { return PMPI_Intercomm_merge(between, high, made); });
}

// Deletes the attribute first, so that ucg's state of the communicator is not destroyed while
// another thread progresses ucg.
int MPI_Comm_disconnect(MPI_Comm* comm) {
    if (library().active && comm != nullptr && *comm != MPI_COMM_NULL &&
        comm_state::find(*comm) != nullptr)
        PMPI_Comm_delete_attr(*comm, library().group_key);
    return call_blocking([&] { return PMPI_Comm_disconnect(comm); });
}

#if UCG_MPI_HAS_CALLS_OF_4
int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm* made) {
    return create_with(made, [&] {
        return pass_on(PMPI_Comm_create_from_group, group, tag, info, handler, made);
    });
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int leader, MPI_Group remote,
                                     int remote_leader, const char* tag, MPI_Info info,
                                     MPI_Errhandler handler, MPI_Comm* made) {
    return call_blocking([&] {
        return pass_on(PMPI_Intercomm_create_from_groups, local, leader, remote, remote_leader, tag,
                       info, handler, made);
    });
}
#endif

int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag,
                         MPI_Comm* made) {
    return call_blocking(
        [&] { return PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made); });
}
