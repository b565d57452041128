#include "ucs/descriptor/close_in_background.hpp"

#include <dlfcn.h>

#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/fork_watch.hpp"
#include "ucs/sys/signal_mask.hpp"

namespace ucs::sys {
namespace {

constinit const log::component close_log{"ucs.close"};

constexpr std::size_t most_waiting = 64;

// The sockets to close, and the state of the thread that closes them. There is at most one thread;
// it ends when the list is empty.
struct closing {
    std::mutex lock;
    std::vector<unique_fd> waiting;
    bool has_thread = false;
    bool has_reported = false;  // has logged that too many sockets wait
    // The child of a fork has only the thread that forked. Another thread may have been changing
    // the list, so the child starts with an empty list, and its copies of the sockets stay open.
    const fork_watch in_child{[](void* self) noexcept {
                                  auto& state = *static_cast<closing*>(self);
                                  // The lock is usually free; then locking it makes the last
                                  // changes of the thread visible here.
                                  if (state.lock.try_lock())
                                      state.lock.unlock();
                                  else
                                      new (&state.lock) std::mutex;
                                  new (&state.waiting) std::vector<unique_fd>;
                                  state.has_thread = false;
                              },
                              this};
};

// Never destroyed, because the thread may outlive static destructors.
closing& all() {
    static auto* const state = new closing;
    return *state;
}

// Takes the socket that has waited longest.
unique_fd take_next(closing& state) noexcept {
    const std::lock_guard guard(state.lock);
    if (state.waiting.empty()) {
        state.has_thread = false;
        return {};
    }
    unique_fd next = std::move(state.waiting.front());
    state.waiting.erase(state.waiting.begin());
    return next;
}

void close_all(closing& state) noexcept {
    while (unique_fd next = take_next(state))
        next.reset();
}

// Prevents that the library is unloaded while the thread runs its code.
void keep_library() noexcept {
    Dl_info self;
    if (::dladdr(reinterpret_cast<const void*>(&keep_library), &self) == 0) return;
    (void)::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void start_thread(closing& state) {
    keep_library();
    const all_signals_blocked inherited;
    std::thread([&state] { close_all(state); }).detach();
    state.has_thread = true;
}

}  // namespace

void close_in_background(unique_fd socket) noexcept {
    if (!socket || !may_hold_descriptors(socket.get())) return;
    try {
        closing& state = all();
        const std::lock_guard guard(state.lock);
        state.waiting.reserve(state.waiting.size() + 1);
        if (!state.has_thread) start_thread(state);
        state.waiting.push_back(std::move(socket));
    } catch (const std::exception&) {
        // There is no memory or no thread: the destructor of `socket` closes it here.
    }
}

bool has_too_many_pending_closes() noexcept {
    try {
        closing& state = all();
        std::unique_lock guard(state.lock);
        const std::size_t count = state.waiting.size();
        if (count < most_waiting) {
            if (count < most_waiting / 2) state.has_reported = false;
            return false;
        }
        const bool is_first = !std::exchange(state.has_reported, true);
        guard.unlock();
        if (is_first) {
            log::warn(close_log,
                      "{} local sockets wait to be closed, and new local connections wait for "
                      "them: another user has sent descriptors that take long to close. Lines "
                      "about refused connections name the user; Linux 6.16 and later refuse such "
                      "descriptors",
                      count);
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace ucs::sys
