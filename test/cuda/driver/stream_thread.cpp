#include "test/cuda/driver/stream_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <thread>

#include "test/cuda/driver/fault.hpp"
#include "test/cuda/driver/random.hpp"
#include "test/cuda/driver/standin.h"

namespace standin {
namespace {

bool is_paused = false;

bool can_begin(const stream& asked) noexcept {
    return !is_paused && !asked.pending.empty() && are_done(asked.pending.front().after);
}

bool is_over(const stream& asked) noexcept {
    return (asked.is_destroyed || asked.owner->is_destroyed) && asked.pending.empty();
}

// Runs a part of an operation unless one failed before. Returns the failure.
CUresult attempt(const std::function<void()>& part, CUresult before) {
    if (before != CUDA_SUCCESS || part == nullptr) return before;
    try {
        part();
    } catch (const failure& failed) {
        report_failed_operation(failed);
        return failed.error;
    }
    return CUDA_SUCCESS;
}

void sleep_for_operation(const stream& on, const operation& running) {
    const std::uint64_t delay = delay_of(on.number, running.sequence);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(delay));
}

void run_operation(held_lock& lock, stream& on, const operation& running) {
    CUresult error = error_of(*on.owner);
    if (error == CUDA_SUCCESS) error = take_fault(operation_fault);
    error = attempt(running.begin, error);
    lock.unlock();
    sleep_for_operation(on, running);
    error = attempt(running.run, error);
    lock.lock();
    if (running.finish != nullptr) running.finish();
    if (on.owner->error == CUDA_SUCCESS && on.owner->on.lost == CUDA_SUCCESS)
        on.owner->error = error;
}

// The body of a stream's thread.
void serve(const stream_ref& on) {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    held_lock lock(state_lock());
    for (;;) {
        state_changed().wait(lock, [&] { return can_begin(*on) || is_over(*on); });
        if (!can_begin(*on)) return;
        {
            const operation running = std::move(on->pending.front());
            on->pending.pop_front();
            run_operation(lock, *on, running);
            on->completed = running.sequence;
        }
        state_changed().notify_all();
    }
}

// Blocks signals for a scope: those of the program are left to its own threads, and only those of
// mistakes of a stream's thread are not.
class blocked_signals {
public:
    blocked_signals() noexcept {
        sigset_t blocked;
        ::sigfillset(&blocked);
        for (const int mistake : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
            ::sigdelset(&blocked, mistake);
        ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

private:
    sigset_t before_;
};

}  // namespace

bool are_streams_paused() noexcept {
    return is_paused;
}

void start_thread(const stream_ref& on) {
    const blocked_signals inherited_by_thread;
    std::thread(serve, on).detach();
    on->has_thread = true;
}

}  // namespace standin

void standin_pause_streams(int is_paused) {
    const standin::held_lock lock(standin::state_lock());
    standin::is_paused = is_paused != 0;
    standin::state_changed().notify_all();
}
