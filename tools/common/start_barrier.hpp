// A barrier from which the processes of a machine start a measured call at the same moment.
#pragma once

#include <atomic>

#include "tools/common/ticks.hpp"
#include "ucs/sys/pause.hpp"

namespace tools {

// A barrier that is independent of the measured library, so that comparisons of libraries do not
// depend on their own barriers. One process makes it, the others join it; one thread of each uses
// it. It leaves no files behind.
class start_barrier {
public:
    // The data with which other processes join; plain numbers, sent as bytes.
    struct address {
        std::uint64_t process = 0, file = 0, token = 0;
    };

    start_barrier() = default;
    start_barrier(const start_barrier&) = delete;
    start_barrier& operator=(const start_barrier&) = delete;
    ~start_barrier();

    // Makes the barrier for `members` processes. Returns false if the system refuses. `limit_ms`:
    // how long to wait for a process.
    bool make(std::uint32_t members, std::uint32_t limit_ms = 5000) noexcept;
    // Joins the barrier. Returns false if it is not of this machine or this user.
    bool join(const address& location) noexcept;
    // Closes the barrier, which must not be used afterwards.
    void leave() noexcept;
    [[nodiscard]] const address& where() const noexcept { return where_; }
    [[nodiscard]] bool is_open() const noexcept { return shared_ != nullptr; }

    // Waits until all members have arrived. Calls `idle` regularly, because other processes may
    // still depend on this process's progress. Returns false if a member did not arrive in time;
    // then no member waits any more.
    template<class Idle>
    bool wait(const Idle& idle) noexcept {
        constexpr unsigned spins = 2000, rare = 64;
        const std::uint32_t now = shared_->round.load(std::memory_order_acquire);
        if (shared_->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            shared_->missing.store(shared_->members, std::memory_order_relaxed);
            shared_->round.store(now + 1, std::memory_order_release);
            return shared_->given_up.load(std::memory_order_relaxed) == 0;
        }
        std::uint64_t begin = 0;
        ucs::arch::backoff pauses({.spins = spins});
        for (unsigned turn = 0; shared_->round.load(std::memory_order_acquire) == now; ++turn) {
            pauses.wait();
            if (turn < spins || turn % rare != 0) continue;
            idle();
            if (begin == 0) begin = monotonic_ns();
            if (!waits_on(begin)) return false;
        }
        return true;
    }

private:
    struct shared {
        alignas(64) std::atomic<std::uint32_t> missing;
        alignas(64) std::atomic<std::uint32_t> round;
        std::atomic<std::uint32_t> given_up;
        std::uint32_t members;
        std::uint32_t limit_ms;
        std::uint64_t token;
    };
    [[nodiscard]] bool waits_on(std::uint64_t since) noexcept;
    bool map(int file) noexcept;

    shared* shared_ = nullptr;
    int file_ = -1;
    address where_;
};

}  // namespace tools
