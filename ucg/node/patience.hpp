// How a process waits for others without keeping them from running.
#pragma once

#include "ucg/node/segment.hpp"

namespace ucg::node {

// Pauses, then yields the core, then sleeps. For loops that poll: wait() after each fruitless poll,
// reset() after a fruitful one. Owner context; one per rank.
//
// A sleeper is called by whoever publishes something (call_sleepers). No fence stands between a
// publisher's store and its look at the count of sleepers, because every publication would pay for
// it: so a call may be missed, within the nanoseconds that a store needs to become visible, and a
// sleep ends by itself after a short time.
class patience {
public:
    struct limits {
        unsigned spins = 1000;   // pauses; 0 where there are more ranks than cores
        unsigned yields = 2000;  // then calls of sched_yield
        unsigned sleep_us = 1000;
    };
    // Fewer pauses where the ranks outnumber the processors that this process may use.
    [[nodiscard]] static limits usual(rank_t ranks) noexcept;

    patience(const segment& memory, rank_t rank, const limits& most) noexcept
        : memory_(memory), rank_(rank), most_(most) {}

    void reset() noexcept { rounds_ = 0; }

    // True: it is time to sleep: the caller polls once more between prepare() and sleep() or
    // forget().
    [[nodiscard]] bool wait() noexcept;
    void prepare() noexcept;
    void sleep() noexcept;
    void forget() noexcept;

    // Until `done`: calls `progress`, which says whether anything moved, and gives the processor to
    // others while nothing does; `patrol` after each sleep.
    template<class Done, class Progress, class Patrol>
    void wait_for(const Done& done, const Progress& progress, const Patrol& patrol) noexcept {
        reset();
        while (!done()) {
            if (progress()) {
                reset();
            } else if (wait()) {
                prepare();
                if (progress()) {
                    forget();
                    reset();
                } else {
                    sleep();
                    patrol();
                }
            }
        }
    }

private:
    const segment& memory_;
    rank_t rank_;
    limits most_;
    unsigned rounds_ = 0;
};

namespace detail {
void wake_all(const segment& memory, rank_t but) noexcept;
}

// After something was published for any of the others.
inline void call_sleepers(const segment& memory, rank_t me) noexcept {
    if (std::atomic_ref(memory.sleepers()).load(std::memory_order_relaxed) != 0) [[unlikely]]
        detail::wake_all(memory, me);
}

}  // namespace ucg::node
