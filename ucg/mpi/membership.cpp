#include "ucg/mpi/membership.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "ucg/mpi/library.hpp"

namespace ucg::mpi {
namespace {

// Whether MPI_COMM_WORLD has all members of a group. Looks at a few of them at a time.
bool are_of_world(MPI_Group members, int size) noexcept {
    int here[64], there[64];
    for (int begin = 0; begin < size; begin += 64) {
        const int count = std::min(size - begin, 64);
        std::iota(here, here + count, begin);
        PMPI_Group_translate_ranks(members, count, here, library().world, there);
        if (std::find(there, there + count, MPI_UNDEFINED) != there + count) return false;
    }
    return true;
}

}  // namespace

membership membership_of(MPI_Comm comm) noexcept {
    int between = 0, rank = 0, size = 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between != 0) return {reason::intercommunicator, 0, 0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    membership made{reason::none, static_cast<std::uint32_t>(rank),
                    static_cast<std::uint32_t>(size)};
    if (size == 1) {
        made.refused = reason::alone;
        return made;
    }
    // Processes of another MPI_COMM_WORLD may run without this library. If any member is of
    // another one, each member sees one that is of another than its own.
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) != MPI_SUCCESS) {
        made.refused = reason::no_group;
        return made;
    }
    if (!are_of_world(members, size)) made.refused = reason::several_worlds;
    PMPI_Group_free(&members);
    return made;
}

std::vector<int> world_ranks_of(MPI_Comm comm, std::uint32_t size) {
    std::vector<int> here(size), there(size);
    std::iota(here.begin(), here.end(), 0);
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) != MPI_SUCCESS) throw std::bad_alloc();
    PMPI_Group_translate_ranks(members, static_cast<int>(size), here.data(), library().world,
                               there.data());
    PMPI_Group_free(&members);
    return there;
}

}  // namespace ucg::mpi
