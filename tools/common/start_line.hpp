// Where the processes of a machine begin a measured call together.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "tools/common/ticks.hpp"

namespace tools {

// A barrier of its own, so that what is compared does not begin by the barriers of those who are
// compared. One process makes it, the others join it; each has one thread that uses it. It leaves
// nothing behind.
class start_line {
public:
    // What the others need to know; plain numbers, to be sent as bytes.
    struct address {
        std::uint64_t process = 0, file = 0, token = 0;
    };

    start_line() = default;
    start_line(const start_line&) = delete;
    start_line& operator=(const start_line&) = delete;
    ~start_line();

    // For so many processes. false: the system has refused. `limit_ms`: how long one is waited for.
    bool make(std::uint32_t members, std::uint32_t limit_ms = 5000) noexcept;
    // false: it is not one of this machine, or not of this user.
    bool join(const address& of) noexcept;
    // It is not used after that.
    void leave() noexcept;
    [[nodiscard]] const address& where() const noexcept { return where_; }
    [[nodiscard]] bool is_open() const noexcept { return shared_ != nullptr; }

    // Returns when all members are here. `idle` is called now and then: what others still wait for
    // may have to be sent on. false: one did not come in time, and nobody waits any more.
    template<class Idle>
    bool meet(const Idle& idle) noexcept {
        constexpr unsigned spins = 2000, rare = 64;
        const std::uint32_t now = shared_->round.load(std::memory_order_acquire);
        if (shared_->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            shared_->missing.store(shared_->members, std::memory_order_relaxed);
            shared_->round.store(now + 1, std::memory_order_release);
            return shared_->given_up.load(std::memory_order_relaxed) == 0;
        }
        std::uint64_t begin = 0;
        for (unsigned turn = 0; shared_->round.load(std::memory_order_acquire) == now; ++turn) {
            if (turn < spins) {
                pause();
                continue;
            }
            ::sched_yield();
            if (turn % rare != 0) continue;
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
    static void pause() noexcept {
#if defined(__x86_64__)
        _mm_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
    [[nodiscard]] bool waits_on(std::uint64_t since) noexcept;
    bool map(int file) noexcept;

    shared* shared_ = nullptr;
    int file_ = -1;
    address where_;
};

}  // namespace tools
