#include "ucs/vfs/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "ucs/vfs/walk.hpp"

namespace ucs::vfs {
namespace {

constexpr std::size_t most_known = 512;
constexpr std::size_t longest_known = 65536;
constexpr unsigned pause_factor = 99;  // see the class

std::string key_of(const question& asked) {
    return static_cast<char>('0' + static_cast<char>(asked.what)) + asked.path;
}

}  // namespace

// Processor time: that the thread may have lost its core meanwhile is not the owner's doing.
mailbox::pace mailbox::pace::real() {
    return {[](time::nanoseconds duration) {
                std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
            },
            time::thread_time};
}

void mailbox::look(const object& top) noexcept {
    state expected = state::asked;
    if (!state_.compare_exchange_strong(expected, state::answering, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
        return;
    }
    const time::nanoseconds begin = pace_.worked();
    try {
        answer_ = answer_below(top, question_);
    } catch (const std::bad_alloc&) {
        answer_ = {UCS_ERR_NO_MEMORY, {}, {}};
    }
    spent_ = pace_.worked() - begin;
    state_.store(state::answered, std::memory_order_release);
}

void mailbox::close() noexcept {
    state_.store(state::closed, std::memory_order_release);
    const std::lock_guard guard(waking_);
    wake_ = nullptr;
}

// By pieces: an owner that goes may wait for the reader's thread.
void mailbox::give_time_back() {
    for (time::nanoseconds left = std::exchange(pause_, 0); left > 0;) {
        if (state_.load(std::memory_order_relaxed) == state::closed) return;
        const time::nanoseconds piece = std::min(left, 10 * time::millisecond);
        pace_.sleep(piece);
        left -= piece;
    }
}

void mailbox::call_owner() {
    const std::lock_guard guard(waking_);
    if (wake_) wake_();
}

// Takes back a question that the owner has not begun with. False: there is, or will be, an answer.
bool mailbox::withdraw() {
    state expected = state::asked;
    return state_.compare_exchange_strong(expected, state::empty, std::memory_order_acquire) ||
           expected == state::empty;
}

// Sleeps and looks, because then the owner need not even make a system call. Counts what it slept:
// the clock may be a simulation's. False: the time is over.
bool mailbox::wait_for_answer(time::nanoseconds limit) {
    time::nanoseconds nap = 20 * time::microsecond;
    for (time::nanoseconds slept = 0;;) {
        const state now = state_.load(std::memory_order_acquire);
        if (now == state::answered || now == state::closed) return true;
        if (slept >= limit && now != state::answering) return false;  // answers have an end
        pace_.sleep(nap);
        slept += nap;
        nap = std::min(nap * 2, time::millisecond);
    }
}

answer mailbox::take_answer() {
    answer said = std::move(answer_);
    answer_ = {};
    // It is the owner's time that the next reader waits for, so that it has 99 parts for itself.
    pause_ = spent_ * pause_factor;
    absent_ = false;
    const bool small = said.text.size() < longest_known && said.items.size() < 1024;
    if (question_.what != verb::write && small) {
        if (known_.size() >= most_known) known_.erase(known_.begin());
        known_[key_of(question_)] = {said, time::now()};
    }
    last_answer_ = time::now();
    // Not over `closed`, which stays.
    state expected = state::answered;
    state_.compare_exchange_strong(expected, state::empty, std::memory_order_relaxed);
    return said;
}

answer mailbox::old_answer(const question& asked) {
    const auto found = known_.find(key_of(asked));
    if (asked.what == verb::write || found == known_.end()) return {UCS_ERR_TIMED_OUT, {}, {}};
    answer said = found->second.said;
    if (asked.what == verb::read && said.status == UCS_OK) {
        if (!said.text.empty() && !said.text.ends_with('\n')) said.text += '\n';
        said.text += fmt::format("# {:.1f} s old: the worker is not being progressed\n",
                                 time::to_seconds(time::now() - found->second.when));
    }
    return said;
}

std::string mailbox::owner_text() const {
    const time::nanoseconds last = last_answer_;
    const std::string when =
        last == 0 ? "never answered"
                  : fmt::format("answered {:.1f} s ago", time::to_seconds(time::now() - last));
    return absent_ ? when + "; it does not answer now: nobody calls ucp_worker_progress" : when;
}

answer mailbox::ask(const question& asked) {
    const std::lock_guard guard(readers_);
    if (!withdraw()) {
        // An answer that came too late for who asked.
        (void)wait_for_answer(patience);
        if (state_.load(std::memory_order_acquire) == state::closed) {
            return {UCS_ERR_NO_ELEM, {}, {}};
        }
        (void)take_answer();
    }
    give_time_back();
    question_ = asked;
    state expected = state::empty;
    if (!state_.compare_exchange_strong(expected, state::asked, std::memory_order_release)) {
        return {UCS_ERR_NO_ELEM, {}, {}};
    }
    call_owner();
    if (!wait_for_answer(absent_ ? short_patience : patience)) {
        // A question that reads stays, so that its answer is there when the owner comes back.
        absent_ = true;
        if (asked.what != verb::write || withdraw()) return old_answer(asked);
        (void)wait_for_answer(patience);
    }
    if (state_.load(std::memory_order_acquire) == state::closed) return {UCS_ERR_NO_ELEM, {}, {}};
    return take_answer();
}

}  // namespace ucs::vfs
