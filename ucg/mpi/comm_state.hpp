// The state of a communicator in this library: its group of ucg.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <memory>
#include <vector>

#include "ucg/mpi/comm_info.hpp"
#include "ucg/mpi/group.hpp"

namespace ucg::mpi {

class operation;

// Attached to its communicator as an attribute. Destroyed with the communicator, or with its last
// operation if that is later. Initially it has no group: join() creates one when a collective needs
// it. By MPI's rules one thread at a time calls collectives of a communicator; any thread may
// settle ended operations.
class comm_state {
public:
    // Returns the state of a communicator, or nullptr if there is none. Looks in a small cache of
    // this thread before it asks MPI.
    static comm_state* find(MPI_Comm comm) noexcept;
    // Creates the state if there is none, without communication. Returns nullptr if this rank has
    // no memory, or if MPI refuses the attribute.
    static comm_state* find_or_create(MPI_Comm comm) noexcept;
    // Takes part in the join() of the other ranks if this rank has no state, or no memory for the
    // call: all ranks then get no group. Collective, as join().
    static void decline(MPI_Comm comm) noexcept;
    // Creates the state and group of a new communicator at once. Collective over the communicator.
    static void join_early(MPI_Comm comm) noexcept;

    comm_state(const comm_state&) = delete;
    comm_state& operator=(const comm_state&) = delete;
    ~comm_state();

    // reason::none: there is a group. reason::not_yet: join() may create one. Otherwise the MPI
    // does all collectives of this communicator.
    [[nodiscard]] reason refused() const noexcept { return refused_; }
    [[nodiscard]] const comm_info& members() const noexcept { return members_; }

    // Creates the group together with the other ranks, or takes a spare one that all of them have,
    // and waits for them. Collective over the communicator. All ranks get the same result, which
    // refused() returns. It remains reason::not_yet if some rank has no state of this communicator.
    void join() noexcept;

    // Returns an inactive request for this call, with its buffers. Throws std::bad_alloc.
    ucs_status_t get(prepared_call& call, cached_request*& request);
    // Creates a request that the caller owns. Even a refused call gets a request, unless there is
    // no memory for it.
    ucs_status_t make_request(prepared_call& call, std::unique_ptr<cached_request>& made);

    // Waits until ucg's request has ended.
    ucs_status_t wait(ucg_request_h request) const noexcept;

    // Reference count: non-blocking operations that have not settled keep the state alive.
    void hold() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

    // Calls the communicator's error handler. Returns the return value of the failed call.
    int fail(const char* action, ucs_status_t status) noexcept;

    // Destroys all remaining states, before the context is destroyed.
    static void destroy_all() noexcept;
    // MPI calls this when the communicator is freed.
    static int on_free(MPI_Comm comm, int key, void* value, void* extra) noexcept;

private:
    comm_state(MPI_Comm comm, const comm_info& members) noexcept
        : comm_(comm), members_(members), refused_(without_group(members)) {}
    static comm_state* make(MPI_Comm comm) noexcept;
    // Registers the state for find() and destroy_all(). Returns false if there is no memory, or if
    // MPI refuses.
    [[nodiscard]] bool attach() noexcept;
    [[nodiscard]] bool find_group() noexcept;
    void begin_group(const std::vector<int>& members) noexcept;
    [[nodiscard]] bool complete_group(std::int64_t number) noexcept;
    void keep_siblings(std::uint32_t count) const noexcept;
    void log_refusal(ucs_status_t status) const noexcept;
    ucs_status_t end_refused(const cached_request& request, ucs_status_t status) const noexcept;
    void detach() noexcept;

    MPI_Comm comm_;  // MPI_COMM_NULL after the communicator was freed
    comm_info members_;
    reason refused_;
    std::unique_ptr<group> group_;
    std::atomic<bool> failed_{false};  // an operation failed, so the group is not reused
    std::atomic<unsigned> users_{1};   // the communicator itself counts as a user
};

}  // namespace ucg::mpi
