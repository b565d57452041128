// A group of ucg with its cached requests, and the spare groups that wait for their next
// communicator.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucg/core/request_cache.hpp"
#include "ucg/mpi/exchange.hpp"
#include "ucg/mpi/prepared.hpp"
#include "ucg/mpi/progress.hpp"

namespace ucg::mpi {

// A request of ucg that is reused by calls that differ in their buffers only. Owned by the group,
// or by one persistent operation.
struct cached_request {
    ucg_coll_args_t own_args = UCG_COLL_ARGS_INIT;
    block_arrays blocks;
    ucg_request_h request = nullptr;
    // Notified when the request ends. Null while a blocking call uses the request.
    ended_operation* owner = nullptr;
    std::atomic<bool> busy{false};

    cached_request() = default;
    cached_request(const cached_request&) = delete;
    cached_request& operator=(const cached_request&) = delete;
    ~cached_request() { ucg_request_free(request); }
    [[nodiscard]] bool is_idle() const noexcept { return !busy.load(std::memory_order_acquire); }
    [[nodiscard]] const ucg_coll_args_t& args() const noexcept { return own_args; }
};

// Serves one communicator at a time. Owned by the communicator's comm_state, or by the spare
// groups.
struct group {
    ucg_group_h handle = nullptr;
    std::unique_ptr<exchange> rounds;  // destroyed after the group; null for a sibling
    request_cache<cached_request, 32> kept;
    // Equal on all ranks of the group, and unique among the groups of each rank.
    std::int64_t number = 0;
    // Siblings of a group have the following numbers.
    static constexpr int max_siblings = 63;

    group() = default;
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    // Sets the ranks in MPI_COMM_WORLD, in the order of the group; called once. Throws
    // std::bad_alloc.
    void set_members(std::vector<int> ranks);
    [[nodiscard]] const std::vector<int>& members() const noexcept { return members_; }
    // Returns the number of groups of these ranks in this process. Any thread.
    [[nodiscard]] static unsigned count_of(const std::vector<int>& members) noexcept;

private:
    std::vector<int> members_;
};

// Groups without a communicator, for the next communicator with the same ranks in the same order.
// Taking one costs a small allreduce; creating one costs several rounds and the memory of a node.
// Spare groups come from freed communicators, or are siblings of a created group. All operations of
// a spare group have ended on this rank. Any thread.
class spare_groups {
public:
    // Returns nullptr if there is none.
    [[nodiscard]] std::unique_ptr<group> take(const std::vector<int>& members) noexcept;
    // Adds a group. If there are too many, removes the least recently used group of the ranks with
    // the most groups.
    void put(std::unique_ptr<group> unused) noexcept;
    void clear() noexcept;
};

spare_groups& spares() noexcept;

}  // namespace ucg::mpi
