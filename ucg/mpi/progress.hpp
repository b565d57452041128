// Who moves things on, and when. MPI and ucg do not know of each other: whoever waits for one of
// them moves both.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>

#include "ucg/mpi/library.hpp"

namespace ucg::mpi {

// An operation that ended is put here by ucg's callback, in whatever thread makes progress; what
// remains to be done needs MPI and is done by the next thread that is in MPI (advance). It deletes
// nothing that others may still look at.
class ending {
public:
    virtual void settle() noexcept = 0;

protected:
    ending() = default;
    virtual ~ending() = default;

private:
    friend class progress;
    ending* next_ = nullptr;
};

// One of a process.
class progress {
public:
    // Non-blocking operations that are under way or not settled.
    void started() noexcept;
    void settled() noexcept { under_way_.fetch_sub(1, std::memory_order_acq_rel); }

    // A group over several nodes was made: what ended here may still have to leave this process.
    void reaches_others() noexcept { lingers_.store(true, std::memory_order_relaxed); }

    // Some node has more ranks of a group than cores: who waits makes room for the others soon.
    void crowded() noexcept { crowded_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_crowded() const noexcept {
        return crowded_.load(std::memory_order_relaxed);
    }

    // Whether a wait in MPI has to move ucg as well.
    [[nodiscard]] bool needed() const noexcept {
        return under_way_.load(std::memory_order_acquire) != 0 ||
               lingers_.load(std::memory_order_relaxed) || (library().multiple && library().active);
    }

    void ended(ending& which) noexcept;

    // Moves ucg on and settles what ended; how much happened.
    unsigned advance() noexcept;

    // Moves MPI on, which has no call for just that.
    static void move_mpi() noexcept;

private:
    std::atomic<unsigned> under_way_{0};
    std::atomic<bool> lingers_{false}, crowded_{false};
    std::atomic<ending*> ended_{nullptr};
};

progress& moving() noexcept;

// What loops do between two looks at something that has not come.
class patience {
public:
    patience() noexcept : spins_(moving().is_crowded() ? 2 : 1000) {}
    void again(bool moved) noexcept;
    // Whether it is time to look at what is looked at seldom.
    [[nodiscard]] bool seldom() noexcept { return ++turns_ % 32 == 0; }

private:
    const unsigned spins_;
    unsigned idle_ = 0;
    unsigned turns_ = 0;
};

// While MPI waits in a call that we cannot take apart (its own blocking collectives, for example),
// another thread moves ucg on, if that is needed. For the time of the call.
class elsewhere {
public:
    elsewhere() noexcept;
    elsewhere(const elsewhere&) = delete;
    elsewhere& operator=(const elsewhere&) = delete;
    ~elsewhere();

private:
    bool helped_;
};

// Ends the thread, if there is one.
void end_helper() noexcept;

// A blocking call of MPI's that may wait for other ranks.
template<class Call>
int away(const Call& call) noexcept {
    if (!library().active) return call();
    const elsewhere now;
    return call();
}

// A test of MPI's, called until it says that it is over or fails: what MPI_Wait and its kind do
// while something of ours is under way.
template<class Test>
int until(const Test& test) noexcept {
    patience waits;
    while (true) {
        int flag = 0;
        const int status = test(&flag);
        if (status != MPI_SUCCESS || flag != 0) return status;
        waits.again(moving().advance() != 0);
    }
}

}  // namespace ucg::mpi
