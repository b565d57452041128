// Facts about a communicator that a rank finds out without asking the others, who find the same.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "ucg/mpi/stats.hpp"

namespace ucg::mpi {

struct membership {
    // reason::none: ucg may serve the communicator. Otherwise the MPI does all its collectives.
    reason refused = reason::none;
    std::uint32_t rank = 0, size = 0;
};

// Needs no memory: a rank that found out less than the others would wait for them.
[[nodiscard]] membership membership_of(MPI_Comm comm) noexcept;

// The ranks in MPI_COMM_WORLD of the members of a communicator that ucg may serve, in their order.
// std::bad_alloc.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Comm comm, std::uint32_t size);

// The reason that a communicator without a group is not served.
[[nodiscard]] inline reason without_group(const membership& members) noexcept {
    return members.refused == reason::none ? reason::not_yet : members.refused;
}

}  // namespace ucg::mpi
