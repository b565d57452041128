// A group of ucg with what belongs to it, and groups that wait for their next communicator.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <cstdint>
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
    std::unique_ptr<exchange> rounds;  // goes after the group; none of a sibling
    std::vector<std::unique_ptr<kept_request>> kept;
    // Equal on all its ranks, and no other group of any of them has it.
    std::int64_t number = 0;
    // Siblings of a group have the numbers that follow it.
    static constexpr int most_siblings = 63;

    group() = default;
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    // Ranks of MPI_COMM_WORLD, in the order of the group; set once. std::bad_alloc.
    void set_members(std::vector<int> ranks);
    [[nodiscard]] const std::vector<int>& members() const noexcept { return members_; }
    // Returns how many groups of these ranks there are in this process. Any thread.
    [[nodiscard]] static unsigned count_of(const std::vector<int>& members) noexcept;

private:
    std::vector<int> members_;
};

// Groups without a communicator, for the next one of the same ranks in the same order: to take one
// costs a small allreduce, to make one several rounds and the memory of a node. They come from
// communicators that were freed, or are siblings of a group that was made. All operations of a
// spare group have ended on this rank. Any thread.
class spare_groups {
public:
    // nullptr: there is none.
    [[nodiscard]] std::unique_ptr<group> take(const std::vector<int>& members) noexcept;
    // When there are too many, of the ranks with most groups the one that was not used for longest
    // goes.
    void put(std::unique_ptr<group> unused) noexcept;
    void clear() noexcept;
};

spare_groups& spares() noexcept;

}  // namespace ucg::mpi
