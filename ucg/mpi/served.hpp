// A communicator and its group of ucg.
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

class operation;

// ucg's request, made once and used again by calls that differ in nothing but the buffers. Owned
// by the group, or by one persistent operation.
struct kept_request {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    block_arrays blocks;
    ucg_request_h request = nullptr;
    // Who is called when it ends; nobody while a blocking call uses it.
    ending* owner = nullptr;
    std::atomic<bool> busy{false};

    kept_request() = default;
    kept_request(const kept_request&) = delete;
    kept_request& operator=(const kept_request&) = delete;
    ~kept_request() { ucg_request_free(request); }
};

// Hangs on its communicator as an attribute, and goes with it, or with its last operation if that
// is later. One thread at a time calls collectives of a communicator, by MPI's rules; any thread
// may settle what ended.
class served {
public:
    // The one of a communicator, or nullptr if it has none yet. Looks it up in a few places that
    // this thread remembers before it asks MPI.
    static served* find(MPI_Comm comm) noexcept;
    // Makes it, collectively and with waiting for the others. nullptr, on all ranks alike: some
    // rank could not keep it, and the next blocking call tries again.
    static served* make(MPI_Comm comm) noexcept;

    served(const served&) = delete;
    served& operator=(const served&) = delete;
    ~served();

    // reason::none: it can be used; else why all its collectives go to MPI, for ever.
    [[nodiscard]] reason refused() const noexcept { return refused_; }
    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

    // A request for this that does not run, with these buffers. std::bad_alloc.
    ucs_status_t get(prepared& what, kept_request*& got);
    // One that belongs to the caller; also where it is refused, unless there is no memory for it.
    ucs_status_t make_request(prepared& what, std::unique_ptr<kept_request>& made);

    // Waits until ucg's request ended.
    ucs_status_t wait(ucg_request_h request) const noexcept;

    // Non-blocking operations that have not settled keep it alive.
    void hold() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

    // Calls the communicator's error handler; gives what the call is to return.
    int fail(const char* what, ucs_status_t status) const noexcept;

    // Of what is left at the end. Before the context is destroyed.
    static void destroy_all() noexcept;
    // MPI calls this when the communicator is freed.
    static int on_free(MPI_Comm comm, int key, void* value, void* extra) noexcept;

private:
    served(MPI_Comm comm, reason refused, std::uint32_t rank, std::uint32_t size) noexcept
        : comm_(comm), refused_(refused), rank_(rank), size_(size) {}
    // Puts it where find() and destroy_all() look. false: there is no memory, or MPI refuses.
    [[nodiscard]] bool hang_on() noexcept;
    // Makes the group with the others; `refused_` says whether it is there. false: some rank could
    // not keep its part.
    [[nodiscard]] bool join_others() noexcept;
    void begin_group() noexcept;
    [[nodiscard]] bool complete_group() noexcept;
    ucs_status_t end_refused(const kept_request& which, ucs_status_t why) const noexcept;
    void forget_comm() noexcept;

    MPI_Comm comm_;   // MPI_COMM_NULL once it was freed
    reason refused_;  // none: also while the ranks have not agreed yet
    const std::uint32_t rank_, size_;
    ucg_group_h group_ = nullptr;
    std::unique_ptr<exchange> exchange_;  // goes after the group
    std::vector<std::unique_ptr<kept_request>> kept_;
    std::atomic<unsigned> users_{1};  // the communicator itself is one
};

}  // namespace ucg::mpi
