// Progress of MPI and ucg. The two libraries do not know each other, so a thread that waits for one
// of them progresses both.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>

#include "ucg/mpi/library.hpp"
#include "ucs/sys/pause.hpp"

namespace ucg::mpi {

// An ended operation. ucg's callback queues it, in any thread that makes progress. The rest of the
// work needs MPI and is done by the next thread that is in MPI (advance). settle() deletes nothing
// that other threads may still access.
class ended_operation {
public:
    virtual void settle() noexcept = 0;

protected:
    ended_operation() = default;
    virtual ~ended_operation() = default;

private:
    friend class progress;
    ended_operation* next_ = nullptr;
};

// Exists once in a process.
class progress {
public:
    // Count non-blocking operations that are active or not settled.
    void started() noexcept;
    void settled() noexcept { active_operations_.fetch_sub(1, std::memory_order_acq_rel); }

    // Notes that a group over several nodes exists: data of ended operations may still have to be
    // sent.
    void set_multi_node() noexcept { is_multi_node_.store(true, std::memory_order_relaxed); }

    // Notes that a node has more ranks of a group than cores: waiting ranks yield the processor
    // soon.
    void set_crowded() noexcept { is_crowded_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_crowded() const noexcept {
        return is_crowded_.load(std::memory_order_relaxed);
    }

    // True if a wait in MPI must progress ucg as well.
    [[nodiscard]] bool is_needed() const noexcept {
        return active_operations_.load(std::memory_order_acquire) != 0 ||
               is_multi_node_.load(std::memory_order_relaxed) ||
               (library().multiple && library().active);
    }

    void ended(ended_operation& operation) noexcept;

    // Progresses ucg and settles ended operations. Returns the number of events.
    unsigned advance() noexcept;

    // Progresses MPI, which has no call just for that.
    static void progress_mpi() noexcept;

private:
    std::atomic<unsigned> active_operations_{0};
    std::atomic<bool> is_multi_node_{false}, is_crowded_{false};
    std::atomic<ended_operation*> ended_list_{nullptr};
};

progress& progress_engine() noexcept;

// Returns the backoff of polling loops.
inline ucs::arch::backoff usual_backoff() noexcept {
    return ucs::arch::backoff({.spins = progress_engine().is_crowded() ? 2U : 1000U});
}

// While MPI waits in a call that cannot be split (for example its own blocking collectives),
// another thread progresses ucg if that is needed. Active for the scope of the object.
class helper_scope {
public:
    helper_scope() noexcept;
    helper_scope(const helper_scope&) = delete;
    helper_scope& operator=(const helper_scope&) = delete;
    ~helper_scope();

private:
    bool is_helped_;
};

// Ends the helper thread if it exists.
void end_helper() noexcept;

// Runs a blocking call of MPI that may wait for other ranks.
template<class Call>
int call_blocking(const Call& call) noexcept {
    if (!library().active) return call();
    const helper_scope scope;
    return call();
}

// Calls a test of MPI until it completes or fails, which replaces MPI_Wait and similar calls while
// a ucg operation is active.
template<class Test>
int until(const Test& test) noexcept {
    auto pauses = usual_backoff();
    while (true) {
        int flag = 0;
        const int status = test(&flag);
        if (status != MPI_SUCCESS || flag != 0) return status;
        pauses.wait_unless(progress_engine().advance() != 0);
    }
}

}  // namespace ucg::mpi
