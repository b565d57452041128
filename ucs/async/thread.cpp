#include "ucs/async/thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "ucs/log/log.hpp"
#include "ucs/sys/signal_mask.hpp"

namespace ucs::async {
namespace {

constinit log::component self{"ucs.async"};

}  // namespace

struct thread::worker {
    explicit worker(std::unique_ptr<event_loop> made) : loop(std::move(made)) {}

    void start() {
        const sys::all_signals_blocked guard;
        handle = std::thread([this] { main(); });
    }

    // Runs the posted functions and joins the thread.
    void finish() {
        {
            const std::lock_guard guard(lock);
            stopping = true;
        }
        loop->wake();
        handle.join();
    }

    void main() {
        id = std::this_thread::get_id();
        (void)::pthread_setname_np(::pthread_self(), "ucx-async");
        while (run_posted()) {
            loop->poll(-1);
        }
    }

    // Returns false when the thread must end.
    bool run_posted() {
        std::vector<function> batch;
        bool go_on = true;
        {
            const std::lock_guard guard(lock);
            batch.swap(posted);
            go_on = !stopping || !batch.empty();
        }
        for (const function& work : batch)
            work(*loop);
        if (!batch.empty()) loop->wake();  // run again for functions that the batch posted
        return go_on;
    }

    const pid_t process = ::getpid();
    std::unique_ptr<event_loop> loop;
    std::mutex lock;  // guards posted and stopping
    std::vector<function> posted;
    bool stopping = false;
    std::thread handle;                 // used by the threads that start and stop it
    std::atomic<std::thread::id> id{};  // any thread reads it
};

thread::worker* thread::live() const noexcept {
    worker* found = current_.load(std::memory_order_acquire);
    return found != nullptr && found->process == ::getpid() ? found : nullptr;
}

result<thread::worker*> thread::ensure() {
    worker* seen = current_.load(std::memory_order_acquire);
    if (seen != nullptr && seen->process == ::getpid()) return seen;
    auto loop = event_loop::create();
    if (!loop) return loop.status();
    auto fresh = std::make_unique<worker>(std::move(*loop));
    try {
        fresh->start();
    } catch (const std::system_error& failure) {
        log::error(self, "cannot start the async thread: {}", failure.what());
        return UCS_ERR_NO_RESOURCE;
    }
    // If several threads post first, one of them wins. Other threads see only a running worker.
    if (!current_.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel)) {
        fresh->finish();
        return seen;
    }
    return fresh.release();
}

ucs_status_t thread::post(function work) {
    const auto target = ensure();
    if (!target) return target.status();
    {
        const std::lock_guard guard((*target)->lock);
        (*target)->posted.push_back(std::move(work));
    }
    (*target)->loop->wake();
    return UCS_OK;
}

ucs_status_t thread::run(function work) {
    if (is_current()) {
        work(*live()->loop);
        return UCS_OK;
    }
    std::mutex lock;
    std::condition_variable changed;
    bool finished = false;
    const ucs_status_t status = post([&](event_loop& loop) {
        work(loop);
        const std::lock_guard guard(lock);
        finished = true;
        changed.notify_one();
    });
    if (status != UCS_OK) return status;
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return finished; });
    return UCS_OK;
}

void thread::stop() noexcept {
    worker* found = live();
    if (found == nullptr) return;
    found->finish();
    current_.store(nullptr, std::memory_order_release);
    delete found;
}

bool thread::running() const noexcept {
    return live() != nullptr;
}

bool thread::is_current() const noexcept {
    const worker* found = live();
    return found != nullptr && found->id == std::this_thread::get_id();
}

}  // namespace ucs::async
