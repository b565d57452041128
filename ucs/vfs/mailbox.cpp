#include "ucs/vfs/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "ucs/type/allocated.hpp"
#include "ucs/vfs/walk.hpp"

namespace ucs::vfs {
namespace {

constexpr std::size_t max_cached = 512;
constexpr std::size_t max_cached_length = 65536;
constexpr unsigned pause_factor = 99;  // see the class

std::string key_of(const query& request) {
    return static_cast<char>('0' + static_cast<char>(request.operation)) + request.path;
}

}  // namespace

// Measures processor time, so that time in which the owner's thread was descheduled does not count.
mailbox::pace mailbox::pace::real() {
    return {[](time::nanoseconds duration) {
                std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
            },
            time::thread_time};
}

void mailbox::serve_query(const object& top) noexcept {
    state expected = state::posted;
    if (!state_.compare_exchange_strong(expected, state::answering, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
        return;
    }
    const time::nanoseconds begin = pace_.worked();
    if (!allocated([&] { answer_ = answer_below(top, query_); }))
        answer_ = {UCS_ERR_NO_MEMORY, {}, {}};
    spent_ = pace_.worked() - begin;
    state_.store(state::answered, std::memory_order_release);
}

void mailbox::close() noexcept {
    state_.store(state::closed, std::memory_order_release);
    const std::lock_guard guard(waking_);
    wake_ = nullptr;
}

// Sleeps in short pieces, because an owner that closes the mailbox may wait for the reader's
// thread.
void mailbox::pause_after_answer() {
    for (time::nanoseconds left = std::exchange(pause_, 0); left > 0;) {
        if (state_.load(std::memory_order_relaxed) == state::closed) return;
        const time::nanoseconds piece = std::min(left, 10 * time::millisecond);
        pace_.sleep(piece);
        left -= piece;
    }
}

void mailbox::wake_owner() {
    const std::lock_guard guard(waking_);
    if (wake_) wake_();
}

// Withdraws a query that the owner has not started. Returns false if there is, or will be, an
// answer.
bool mailbox::withdraw() {
    state expected = state::posted;
    return state_.compare_exchange_strong(expected, state::empty, std::memory_order_acquire) ||
           expected == state::empty;
}

// Sleeps and polls, so that the owner needs no system call to notify the reader. Counts the time
// slept, because the clock may be virtual. Returns false at the end of the limit.
bool mailbox::wait_for_answer(time::nanoseconds limit) {
    time::nanoseconds nap = 20 * time::microsecond;
    for (time::nanoseconds slept = 0;;) {
        const state now = state_.load(std::memory_order_acquire);
        if (now == state::answered || now == state::closed) return true;
        if (slept >= limit && now != state::answering)
            return false;  // an answer that has begun will finish
        pace_.sleep(nap);
        slept += nap;
        nap = std::min(nap * 2, time::millisecond);
    }
}

answer mailbox::take_answer() {
    answer reply = std::move(answer_);
    answer_ = {};
    // The next reader waits in proportion to the owner's time, so that the owner has 99 % of its
    // time for itself.
    pause_ = spent_ * pause_factor;
    absent_ = false;
    const bool small = reply.text.size() < max_cached_length && reply.items.size() < 1024;
    if (query_.operation != verb::write && small) {
        if (cached_.size() >= max_cached) cached_.erase(cached_.begin());
        cached_[key_of(query_)] = {reply, time::now()};
    }
    last_answer_ = time::now();
    // Do not overwrite `closed`.
    state expected = state::answered;
    state_.compare_exchange_strong(expected, state::empty, std::memory_order_relaxed);
    return reply;
}

answer mailbox::cached_answer(const query& request) {
    const auto found = cached_.find(key_of(request));
    if (request.operation == verb::write || found == cached_.end())
        return {UCS_ERR_TIMED_OUT, {}, {}};
    answer reply = found->second.reply;
    if (request.operation == verb::read && reply.status == UCS_OK) {
        if (!reply.text.empty() && !reply.text.ends_with('\n')) reply.text += '\n';
        reply.text += fmt::format("# {:.1f} s old: the worker is not being progressed\n",
                                  time::to_seconds(time::now() - found->second.when));
    }
    return reply;
}

std::string mailbox::owner_text() const {
    const time::nanoseconds last = last_answer_;
    const std::string when =
        last == 0 ? "never answered"
                  : fmt::format("answered {:.1f} s ago", time::to_seconds(time::now() - last));
    return absent_
               ? when + "; it does not answer now: the program does not call ucp_worker_progress"
               : when;
}

answer mailbox::ask(const query& request) {
    const std::lock_guard guard(readers_);
    if (!withdraw()) {
        // The previous reader gave up before its answer came; take that answer now.
        (void)wait_for_answer(reply_timeout);
        if (state_.load(std::memory_order_acquire) == state::closed) {
            return {UCS_ERR_NO_ELEM, {}, {}};
        }
        (void)take_answer();
    }
    pause_after_answer();
    query_ = request;
    state expected = state::empty;
    if (!state_.compare_exchange_strong(expected, state::posted, std::memory_order_release)) {
        return {UCS_ERR_NO_ELEM, {}, {}};
    }
    wake_owner();
    if (!wait_for_answer(absent_ ? absent_timeout : reply_timeout)) {
        // A query that reads stays pending, so that its answer is ready when the owner responds
        // again.
        absent_ = true;
        if (request.operation != verb::write || withdraw()) return cached_answer(request);
        (void)wait_for_answer(reply_timeout);
    }
    if (state_.load(std::memory_order_acquire) == state::closed) return {UCS_ERR_NO_ELEM, {}, {}};
    return take_answer();
}

}  // namespace ucs::vfs
