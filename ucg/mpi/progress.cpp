#include "ucg/mpi/progress.hpp"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ucg::mpi {
namespace {

// The helper thread that progresses ucg while all other threads are in MPI. It holds the lock in
// each turn, so that one thread at a time enters ucg below MPI_THREAD_MULTIPLE.
class helper {
public:
    // Returns false if no thread can be created.
    bool enter() noexcept try {
        std::unique_lock guard(lock_);
        if (!thread_.joinable()) {
            is_ending_ = false;
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
            is_ending_ = true;
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
        while (!is_ending_) {
            if (inside_ == 0 || !progress_engine().is_needed()) {
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
                ucs::arch::yield();
            guard.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable called_;
    std::thread thread_;
    std::atomic<unsigned> inside_{0};
    bool is_ending_ = false;
};

helper& helper_thread() noexcept {
    // Never destroyed: a program may end without MPI_Finalize while the thread runs.
    static auto* const one = new helper;
    return *one;
}

}  // namespace

progress& progress_engine() noexcept {
    static progress one;
    return one;
}

void progress::started() noexcept {
    active_operations_.fetch_add(1, std::memory_order_acq_rel);
    if (library().multiple && helper_thread().is_awaited()) helper_thread().wake();
}

void progress::ended(ended_operation& operation) noexcept {
    operation.next_ = ended_list_.load(std::memory_order_relaxed);
    while (!ended_list_.compare_exchange_weak(
        operation.next_, &operation, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

unsigned progress::advance() noexcept {
    const unsigned moved = ucg_progress(library().context);
    if (ended_list_.load(std::memory_order_relaxed) == nullptr) return moved;
    ended_operation* last = ended_list_.exchange(nullptr, std::memory_order_acquire);
    ended_operation* first = nullptr;
    while (last != nullptr) {  // the list is in reverse order
        ended_operation* const next = last->next_;
        last->next_ = first;
        first = last;
        last = next;
    }
    while (first != nullptr) {
        ended_operation* const next = first->next_;
        first->settle();
        first = next;
    }
    return moved + 1;
}

void progress::progress_mpi() noexcept {
    int flag = 0;
    PMPI_Request_get_status(library().dummy_receive, &flag, MPI_STATUS_IGNORE);
}

helper_scope::helper_scope() noexcept
    : is_helped_(progress_engine().is_needed() && helper_thread().enter()) {}

helper_scope::~helper_scope() {
    if (is_helped_) helper_thread().leave();
}

void end_helper() noexcept {
    helper_thread().end();
}

}  // namespace ucg::mpi
