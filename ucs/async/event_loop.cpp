#include "ucs/async/event_loop.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <tuple>
#include <unordered_map>

#include "ucs/async/eventfd.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/time/timer_heap.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::async {
namespace {

constinit log::component self{"ucs.async"};

// The registration of a descriptor. dispatch() shares it while it runs the handler, which may
// remove it.
struct watch {
    std::uint32_t serial;
    event_loop::fd_handler handler;
};

struct timer {
    time::nanoseconds interval;
    bool once;
    std::shared_ptr<event_loop::timer_handler> handler;
};

constexpr std::uint64_t wake_key = ~std::uint64_t{0};
constexpr std::uint64_t alarm_key = wake_key - 1;

constexpr std::uint64_t key_of(int fd, std::uint32_t serial) noexcept {
    return static_cast<std::uint64_t>(serial) << 32 | static_cast<std::uint32_t>(fd);
}

}  // namespace

struct event_loop::state {
    state(unique_fd epoll_fd, eventfd wake_fd)
        : epoll(std::move(epoll_fd)), waker(std::move(wake_fd)) {}

    unsigned dispatch(const epoll_event& event);
    unsigned run_timers();
    [[nodiscard]] int wait_time(int timeout_ms) const;
    ucs_status_t make_alarm() noexcept;
    ucs_status_t set_alarm() noexcept;

    unique_fd epoll;
    eventfd waker;
    // A timerfd that makes `epoll` readable when a timer is due; created for the first caller that
    // sleeps on it.
    unique_fd alarm;
    time::nanoseconds alarm_at = 0;  // 0: not set
    bool armed = false;              // set for good by arm(): a thread may sleep while others poll
    std::atomic<bool> wake_requested{false};  // set by wake()
    enum class latch : std::uint8_t { clear, set, released };
    std::atomic<latch> latch_state{latch::clear};
    // The serial distinguishes an event of a descriptor from an event of an earlier descriptor with
    // the same number.
    std::uint32_t last_serial = 0;
    std::unordered_map<int, std::shared_ptr<watch>> watches;
    time::timer_heap<timer> timers;
    event_loop::timer_handler woken;
};

event_loop::event_loop() noexcept = default;
event_loop::~event_loop() = default;

result<std::unique_ptr<event_loop>> event_loop::create() {
    unique_fd epoll = sys::within_budget(unique_fd(::epoll_create1(EPOLL_CLOEXEC)));
    if (!epoll) {
        log::error(self, "epoll_create1() failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    auto waker = eventfd::create();
    if (!waker) return waker.status();
    epoll_event event{.events = EPOLLIN, .data = {.u64 = wake_key}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, waker->fd(), &event) != 0) {
        log::error(self, "epoll_ctl(ADD, eventfd) failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    std::unique_ptr<event_loop> loop(new event_loop);
    loop->state_ = std::make_unique<state>(std::move(epoll), *std::move(waker));
    return loop;
}

ucs_status_t event_loop::add(int fd, std::uint32_t epoll_events, fd_handler handler) noexcept {
    auto& watches = state_->watches;
    std::shared_ptr<watch> entry;
    // Allocate the entry first: the kernel must not watch a descriptor without a handler.
    auto position = watches.end();
    bool added = false;
    const bool has_memory = allocated([&] {
        entry = std::make_shared<watch>(watch{++state_->last_serial, std::move(handler)});
        std::tie(position, added) = watches.try_emplace(fd);
    });
    if (!has_memory) {
        log::error(self, "fd {} is not watched: out of memory", fd);
        return UCS_ERR_NO_MEMORY;
    }
    epoll_event event{.events = epoll_events, .data = {.u64 = key_of(fd, entry->serial)}};
    if (::epoll_ctl(state_->epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        const int error = errno;
        log::error(self, "epoll_ctl(ADD, fd {}, events {:#x}) failed: {}", fd, epoll_events,
                   std::strerror(error));
        if (added) watches.erase(position);
        return error == EEXIST                      ? UCS_ERR_ALREADY_EXISTS
               : error == ENOMEM || error == ENOSPC ? UCS_ERR_NO_MEMORY
                                                    : UCS_ERR_INVALID_PARAM;
    }
    position->second = std::move(entry);
    return UCS_OK;
}

ucs_status_t event_loop::modify(int fd, std::uint32_t epoll_events) {
    const auto found = state_->watches.find(fd);
    if (found == state_->watches.end()) {
        log::error(self, "fd {} is not watched, its events cannot be set to {:#x}", fd,
                   epoll_events);
        return UCS_ERR_NO_ELEM;
    }
    epoll_event event{.events = epoll_events, .data = {.u64 = key_of(fd, found->second->serial)}};
    if (::epoll_ctl(state_->epoll.get(), EPOLL_CTL_MOD, fd, &event) != 0) {
        log::error(self, "epoll_ctl(MOD, fd {}, events {:#x}) failed: {}", fd, epoll_events,
                   std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

void event_loop::remove(int fd) noexcept {
    if (state_->watches.erase(fd) == 0) return;
    // This fails if the owner closed the descriptor first; epoll has then dropped it already.
    (void)::epoll_ctl(state_->epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
}

event_loop::timer_id event_loop::add_timer(time::nanoseconds interval, timer_handler handler,
                                           bool once) noexcept {
    std::shared_ptr<timer_handler> kept;
    if (!allocated([&] { kept = std::make_shared<timer_handler>(std::move(handler)); })) return 0;
    const timer_id id =
        state_->timers.add(time::now() + interval, {interval, once, std::move(kept)});
    // A sleeping thread must learn of the new timer. Without a descriptor for the alarm the timer
    // fires late, but it fires.
    if (id != 0 && state_->armed) static_cast<void>(state_->set_alarm());
    return id;
}

void event_loop::remove_timer(timer_id id) noexcept {
    state_->timers.remove(id);
}

unsigned event_loop::state::dispatch(const epoll_event& event) {
    if (event.data.u64 == wake_key) {
        auto expected = latch::released;
        latch_state.compare_exchange_strong(expected, latch::clear);
        waker.drain();
        if (latch_state.load() == latch::set) waker.signal();
        if (wake_requested.exchange(false) && woken) woken();
        return 0;
    }
    if (event.data.u64 == alarm_key) {
        std::uint64_t times = 0;
        static_cast<void>(::read(alarm.get(), &times, sizeof times));
        alarm_at = 0;
        return 0;
    }
    const int fd = static_cast<int>(static_cast<std::uint32_t>(event.data.u64));
    const auto found = watches.find(fd);
    if (found == watches.end()) return 0;
    const std::shared_ptr<watch> entry = found->second;
    if (entry->serial != event.data.u64 >> 32) return 0;
    boundary(self, "the handler of an event", [&] { entry->handler(event.events); });
    return 1;
}

unsigned event_loop::state::run_timers() {
    if (timers.empty()) return 0;
    const time::nanoseconds now = time::now();
    unsigned count = 0;
    // Run at most as many handlers as there are timers, so that an interval of zero does not loop
    // for ever.
    for (std::size_t left = timers.size(); left != 0 && !timers.empty(); --left) {
        if (timers.next_deadline() > now) break;
        const timer_id id = timers.next();
        const timer& due = *timers.find(id);
        const auto handler = due.handler;
        if (due.once) {
            timers.remove(id);
        } else {
            timers.reschedule(id, now + due.interval);
        }
        boundary(self, "the handler of a timer", *handler);
        ++count;
    }
    return count;
}

int event_loop::state::wait_time(int timeout_ms) const {
    if (timeout_ms == 0 || timers.empty()) return timeout_ms;
    const time::nanoseconds now = time::now();
    const time::nanoseconds due = timers.next_deadline();
    if (due <= now) return 0;
    // Round up: an early wake-up would spin until the timer is due.
    const time::nanoseconds ms = (due - now - 1) / time::millisecond + 1;
    const int limit = timeout_ms < 0 ? 1'000'000 : timeout_ms;
    return ms > static_cast<time::nanoseconds>(limit) ? limit : static_cast<int>(ms);
}

ucs_status_t event_loop::state::make_alarm() noexcept {
    unique_fd fd = sys::within_budget(
        unique_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = alarm_key}};
    if (!fd || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) {
        log::error(self, "timers cannot wake a sleeping thread: {}", std::strerror(errno));
        return errno == ENOMEM || errno == ENOSPC ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
    }
    alarm = std::move(fd);
    return UCS_OK;
}

ucs_status_t event_loop::state::set_alarm() noexcept {
    if (timers.empty() || timers.next_deadline() == alarm_at) return UCS_OK;
    if (!alarm) {
        if (const ucs_status_t status = make_alarm(); status != UCS_OK) return status;
    }
    const time::nanoseconds due = timers.next_deadline();
    const time::nanoseconds now = time::now();
    // The clock may be virtual, so pass the remaining time. Limit it to a week, because the kernel
    // does not accept every deadline. Zero would disarm the alarm.
    const time::nanoseconds left =
        due <= now ? 1 : std::min(due - now, time::second * 3600 * 24 * 7);
    itimerspec when{};
    when.it_value.tv_sec = static_cast<time_t>(left / time::second);
    when.it_value.tv_nsec = static_cast<long>(left % time::second);
    static_cast<void>(::timerfd_settime(alarm.get(), 0, &when, nullptr));
    alarm_at = due;
    return UCS_OK;
}

ucs_status_t event_loop::arm() noexcept {
    if (!state_->timers.empty()) {
        if (state_->timers.next_deadline() <= time::now()) return UCS_ERR_BUSY;
        if (const ucs_status_t status = state_->set_alarm(); status != UCS_OK) return status;
    }
    if (is_wake_latched()) {
        release_wake();
        return UCS_ERR_BUSY;
    }
    epoll_event any;
    if (::epoll_wait(state_->epoll.get(), &any, 1, 0) > 0) return UCS_ERR_BUSY;
    state_->armed = true;
    return UCS_OK;
}

unsigned event_loop::poll(int timeout_ms) {
    std::array<epoll_event, 32> events;
    const int ready = ::epoll_wait(state_->epoll.get(), events.data(),
                                   static_cast<int>(events.size()), state_->wait_time(timeout_ms));
    if (ready < 0 && errno != EINTR) {
        log::error(self, "epoll_wait() failed: {}", std::strerror(errno));
    }
    unsigned count = 0;
    for (int i = 0; i < ready; ++i) {
        count += state_->dispatch(events[static_cast<std::size_t>(i)]);
    }
    count += state_->run_timers();
    if (state_->armed) static_cast<void>(state_->set_alarm());
    return count;
}

void event_loop::wake() noexcept {
    state_->wake_requested.store(true);
    state_->waker.signal();
}

void event_loop::latch_wake() noexcept {
    state_->latch_state.store(state::latch::set);
    state_->waker.signal();
}

bool event_loop::is_wake_latched() const noexcept {
    return state_->latch_state.load() != state::latch::clear;
}

void event_loop::release_wake() noexcept {
    auto expected = state::latch::set;
    state_->latch_state.compare_exchange_strong(expected, state::latch::released);
}

void event_loop::set_wake_handler(timer_handler handler) {
    state_->woken = std::move(handler);
}

int event_loop::fd() const noexcept {
    return state_->epoll.get();
}

std::size_t event_loop::size() const noexcept {
    return state_->watches.size();
}

}  // namespace ucs::async
