// A group of ucg with what belongs to it, and groups that wait for their next communicator.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <memory>
#include <vector>

#include "ucg/mpi/exchange.hpp"
#include "ucg/mpi/prepared.hpp"
#include "ucg/mpi/progress.hpp"

namespace ucg::mpi {

// ucg's request, made once and used again by calls that differ in nothing but the buffers. Owned
// by the group, or by one persistent operation.
struct kept_request {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    block_arrays blocks;
    ucg_request_h request = nullptr;
    // Called when the request ends. Null while a blocking call uses the request.
    ending* owner = nullptr;
    std::atomic<bool> busy{false};

    kept_request() = default;
    kept_request(const kept_request&) = delete;
    kept_request& operator=(const kept_request&) = delete;
    ~kept_request() { ucg_request_free(request); }
};

// Serves one communicator at a time. Owned by what serves the communicator, or by the spare groups.
struct group {
    ucg_group_h handle = nullptr;
    std::unique_ptr<exchange> rounds;  // goes after the group
    std::vector<std::unique_ptr<kept_request>> kept;
    std::vector<int> members;  // ranks of MPI_COMM_WORLD, in the order of the group
    // Equal on all its ranks, and no other group of any of them has it.
    int number = 0;

    group() = default;
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group() {
        kept.clear();
        ucg_group_destroy(handle);
    }
};

// Groups whose communicator was freed, for the next one of the same ranks in the same order: to
// take one costs a small allreduce, to make one several rounds and the memory of a node. All
// operations of a spare group have ended on this rank. Any thread.
class spare_groups {
public:
    // nullptr: there is none.
    [[nodiscard]] std::unique_ptr<group> take(const std::vector<int>& members) noexcept;
    // The group that was not used for longest goes when there are too many.
    void put(std::unique_ptr<group> unused) noexcept;
    void clear() noexcept;
};

spare_groups& spares() noexcept;

}  // namespace ucg::mpi
