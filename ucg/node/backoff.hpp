// Waiting for other processes without keeping them from running: spin, yield, then sleep.
#pragma once

#include "ucg/node/memory/shared_memory.hpp"

namespace ucg::node {

// Pauses, then yields the core, then sleeps. For loops that poll: call wait() after each poll that
// found nothing, reset() after each that found something. Owner context; one per rank.
//
// A rank that publishes something wakes sleepers (wake_sleepers). There is no fence between the
// publisher's store and its read of the count of sleepers, because every publication would pay for
// it. So a wakeup may be missed within the nanoseconds that a store needs to become visible;
// therefore a sleep ends by itself after a short time.
class backoff {
public:
    struct limits {
        unsigned spins = 1000;   // pauses; 0 if there are more ranks than cores
        unsigned yields = 2000;  // then calls of sched_yield
        unsigned sleep_us = 1000;
    };
    // Returns the default limits: no pauses if the ranks outnumber the cores that this process may
    // use.
    [[nodiscard]] static limits usual(rank_t ranks) noexcept;

    backoff(const shared_memory& memory, rank_t rank, const limits& bounds) noexcept
        : memory_(memory), rank_(rank), limits_(bounds) {}

    void reset() noexcept { rounds_ = 0; }

    // Returns true if it is time to sleep. Then the caller must poll once more between
    // prepare_sleep() and either sleep() or cancel_sleep().
    [[nodiscard]] bool wait() noexcept;
    void prepare_sleep() noexcept;
    void sleep() noexcept;
    void cancel_sleep() noexcept;

    // Waits until `done`. Calls `progress`, which returns whether anything advanced, and yields the
    // processor while nothing does. Calls `check_peers` after each sleep.
    template<class Done, class Progress, class CheckPeers>
    void wait_for(const Done& done, const Progress& progress,
                  const CheckPeers& check_peers) noexcept {
        reset();
        while (!done()) {
            if (progress()) {
                reset();
            } else if (wait()) {
                prepare_sleep();
                if (progress()) {
                    cancel_sleep();
                    reset();
                } else {
                    sleep();
                    check_peers();
                }
            }
        }
    }

private:
    const shared_memory& memory_;
    rank_t rank_;
    limits limits_;
    unsigned rounds_ = 0;
};

namespace detail {
void wake_all(const shared_memory& memory, rank_t except) noexcept;
}

// Wakes sleeping ranks after this rank has published something for any of them.
inline void wake_sleepers(const shared_memory& memory, rank_t me) noexcept {
    if (std::atomic_ref(memory.sleepers()).load(std::memory_order_relaxed) != 0) [[unlikely]]
        detail::wake_all(memory, me);
}

}  // namespace ucg::node
