#include "ucg/mpi/progress.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "ucs/arch/pause.hpp"

namespace ucg::mpi {
namespace {

// The thread that moves ucg while all others are in MPI. It holds the lock in each turn, so that
// ucg is entered by one thread at a time below MPI_THREAD_MULTIPLE.
class helper {
public:
    // false: there is no thread to be had.
    bool enter() noexcept try {
        std::unique_lock guard(lock_);
        if (!thread_.joinable()) {
            ending_ = false;
            thread_ = std::thread([this] { run(); });
        }
        if (++inside_ == 1) called_.notify_one();
        return true;
    } catch (...) {
        return false;
    }
    void leave() noexcept {
        const std::lock_guard guard(lock_);
        --inside_;
    }
    void wake() noexcept {
        const std::lock_guard guard(lock_);
        called_.notify_one();
    }
    void end() noexcept {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard guard(lock_);
            ending_ = true;
            called_.notify_one();
        }
        thread_.join();
    }
    [[nodiscard]] bool is_awaited() const noexcept {
        return inside_.load(std::memory_order_relaxed) != 0;
    }

private:
    void run() noexcept {
        constexpr unsigned spins = 200, short_sleep_us = 20, longest_sleep_us = 1000;
        unsigned idle = 0;
        std::unique_lock guard(lock_);
        while (!ending_) {
            if (inside_ == 0 || !moving().needed()) {
                idle = 0;
                called_.wait(guard);
                continue;
            }
            const bool moved = ucg_progress(library().context) != 0;
            idle = moved ? 0 : idle + 1;
            guard.unlock();
            if (idle > spins)
                ::usleep(idle > 2 * spins ? longest_sleep_us : short_sleep_us);
            else
                ::sched_yield();
            guard.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable called_;
    std::thread thread_;
    std::atomic<unsigned> inside_{0};
    bool ending_ = false;
};

helper& other_thread() noexcept {
    // Never destroyed: a program may end without MPI_Finalize while the thread runs.
    static auto* const one = new helper;
    return *one;
}

}  // namespace

progress& moving() noexcept {
    static progress one;
    return one;
}

void progress::started() noexcept {
    under_way_.fetch_add(1, std::memory_order_acq_rel);
    if (library().multiple && other_thread().is_awaited()) other_thread().wake();
}

void progress::ended(ending& which) noexcept {
    which.next_ = ended_.load(std::memory_order_relaxed);
    while (!ended_.compare_exchange_weak(which.next_, &which, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
}

unsigned progress::advance() noexcept {
    const unsigned moved = ucg_progress(library().context);
    if (ended_.load(std::memory_order_relaxed) == nullptr) return moved;
    ending* last = ended_.exchange(nullptr, std::memory_order_acquire);
    ending* first = nullptr;
    while (last != nullptr) {  // they came in the other order
        ending* const next = last->next_;
        last->next_ = first;
        first = last;
        last = next;
    }
    while (first != nullptr) {
        ending* const next = first->next_;
        first->settle();
        first = next;
    }
    return moved + 1;
}

void progress::move_mpi() noexcept {
    int flag = 0;
    PMPI_Request_get_status(library().never, &flag, MPI_STATUS_IGNORE);
}

void patience::again(bool moved) noexcept {
    idle_ = moved ? 0 : idle_ + 1;
    if (idle_ > spins_)
        ::sched_yield();
    else if (!moved)
        ucs::arch::pause();
}

elsewhere::elsewhere() noexcept : helped_(moving().needed() && other_thread().enter()) {}

elsewhere::~elsewhere() {
    if (helped_) other_thread().leave();
}

void end_helper() noexcept {
    other_thread().end();
}

}  // namespace ucg::mpi
