// A communicator and its group of ucg.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <memory>
#include <vector>

#include "ucg/mpi/group.hpp"
#include "ucg/mpi/membership.hpp"

namespace ucg::mpi {

class operation;

// Hangs on its communicator as an attribute, and goes with it, or with its last operation if that
// is later. It has no group at first: join() makes it, when a collective needs it. One thread at a
// time calls collectives of a communicator, by MPI's rules; any thread may settle what ended.
class served {
public:
    // The object of a communicator, or nullptr if there is none yet. Looks it up in a few slots
    // that this thread remembers before it asks MPI.
    static served* find(MPI_Comm comm) noexcept;
    // Makes it if there is none, without asking other ranks. nullptr: this rank has no memory for
    // it, or MPI refuses to keep it.
    static served* find_or_make(MPI_Comm comm) noexcept;
    // For a rank that has no object, or no memory for the call, where the others join(): they find
    // no group. Collective, as join().
    static void decline(MPI_Comm comm) noexcept;
    // The same for a new communicator whose group is wanted at once. Collective over it.
    static void join_early(MPI_Comm comm) noexcept;

    served(const served&) = delete;
    served& operator=(const served&) = delete;
    ~served();

    // reason::none: there is a group. reason::not_yet: join() may make one. Any other reason: the
    // MPI does all collectives of this communicator.
    [[nodiscard]] reason refused() const noexcept { return refused_; }
    [[nodiscard]] const membership& members() const noexcept { return members_; }

    // Makes the group together with the other ranks, or takes a spare one that all of them have,
    // and waits for them. Collective over the communicator; all ranks find the same: refused() says
    // what. It stays reason::not_yet if some rank has no object for this communicator.
    void join() noexcept;

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
    int fail(const char* what, ucs_status_t status) noexcept;

    // Of what is left at the end. Before the context is destroyed.
    static void destroy_all() noexcept;
    // MPI calls this when the communicator is freed.
    static int on_free(MPI_Comm comm, int key, void* value, void* extra) noexcept;

private:
    served(MPI_Comm comm, const membership& members) noexcept
        : comm_(comm), members_(members), refused_(without_group(members)) {}
    static served* make(MPI_Comm comm) noexcept;
    // Puts it where find() and destroy_all() look. false: there is no memory, or MPI refuses.
    [[nodiscard]] bool hang_on() noexcept;
    [[nodiscard]] bool find_group() noexcept;
    void begin_group(const std::vector<int>& members) noexcept;
    [[nodiscard]] bool complete_group(std::int64_t number) noexcept;
    void keep_siblings(std::uint32_t count) const noexcept;
    void say_refused(ucs_status_t why) const noexcept;
    ucs_status_t end_refused(const kept_request& which, ucs_status_t why) const noexcept;
    void forget_comm() noexcept;

    MPI_Comm comm_;  // MPI_COMM_NULL once it was freed
    membership members_;
    reason refused_;
    std::unique_ptr<group> group_;
    std::atomic<bool> failed_{
        false};  // an operation ended with an error: nobody else gets the group
    std::atomic<unsigned> users_{1};  // the communicator itself is one
};

}  // namespace ucg::mpi
