// Local facts about a communicator: each rank determines them without communication, and all ranks
// get the same result.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "ucg/mpi/stats.hpp"

namespace ucg::mpi {

struct comm_info {
    // reason::none: ucg may serve the communicator. Otherwise the MPI does all its collectives.
    reason refused = reason::none;
    std::uint32_t rank = 0, size = 0;
};

// Allocates no memory, so that it gives the same result on all ranks.
[[nodiscard]] comm_info comm_info_of(MPI_Comm comm) noexcept;

// The ranks in MPI_COMM_WORLD of the members of a communicator that ucg may serve, in their order.
// Throws std::bad_alloc.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Comm comm, std::uint32_t size);

// The reason why a communicator without a group is not served.
[[nodiscard]] inline reason without_group(const comm_info& info) noexcept {
    return info.refused == reason::none ? reason::not_yet : info.refused;
}

}  // namespace ucg::mpi
