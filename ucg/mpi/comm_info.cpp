#include "ucg/mpi/comm_info.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "ucg/mpi/library.hpp"

namespace ucg::mpi {
namespace {

// True if all members of a group are in MPI_COMM_WORLD. Checks some members at a time.
bool are_in_world(MPI_Group members, int size) noexcept {
    int local_ranks[64], world_ranks[64];
    for (int begin = 0; begin < size; begin += 64) {
        const int count = std::min(size - begin, 64);
        std::iota(local_ranks, local_ranks + count, begin);
        PMPI_Group_translate_ranks(members, count, local_ranks, library().world, world_ranks);
        if (std::find(world_ranks, world_ranks + count, MPI_UNDEFINED) != world_ranks + count)
            return false;
    }
    return true;
}

}  // namespace

comm_info comm_info_of(MPI_Comm comm) noexcept {
    int between = 0, rank = 0, size = 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between != 0) return {reason::intercommunicator, 0, 0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    comm_info made{reason::none, static_cast<std::uint32_t>(rank),
                   static_cast<std::uint32_t>(size)};
    if (size == 1) {
        made.refused = reason::alone;
        return made;
    }
    // Processes of another MPI_COMM_WORLD may run without this library. If the members come from
    // several worlds, each member sees a member of another world than its own.
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) != MPI_SUCCESS) {
        made.refused = reason::no_group;
        return made;
    }
    if (!are_in_world(members, size)) made.refused = reason::several_worlds;
    PMPI_Group_free(&members);
    return made;
}

std::vector<int> world_ranks_of(MPI_Comm comm, std::uint32_t size) {
    std::vector<int> local_ranks(size), world_ranks(size);
    std::iota(local_ranks.begin(), local_ranks.end(), 0);
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) != MPI_SUCCESS) throw std::bad_alloc();
    PMPI_Group_translate_ranks(members, static_cast<int>(size), local_ranks.data(), library().world,
                               world_ranks.data());
    PMPI_Group_free(&members);
    return world_ranks;
}

}  // namespace ucg::mpi
