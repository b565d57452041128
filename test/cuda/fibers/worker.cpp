#include "test/cuda/fibers/worker.hpp"

#include <exception>
#include <thread>
#include <utility>

namespace fibers {
namespace {

thread_local worker* working = nullptr;

}  // namespace

void shared_launch::fail(const std::string& reason) {
    const std::lock_guard guard(lock_);
    if (!reason_) reason_ = reason;
    has_failed_ = true;
}

worker::worker(shared_launch& owner, unsigned index, unsigned workers)
    : owner_(owner), dice_(owner.shape().seed * 1000 + index) {
    const launch& shape = owner.shape();
    for (unsigned each = index; each < shape.blocks; each += workers) {
        blocks_.emplace_back(each, shape.threads, shape.shared_bytes);
        for (gpu_thread& thread : blocks_.back().threads())
            ready_.push_back(&thread);
    }
}

worker& worker::current() noexcept {
    return *working;
}

void worker::run() {
    working = this;
    while (!ready_.empty() && !owner_.has_failed()) {
        const std::size_t chosen = dice_() % ready_.size();
        std::swap(ready_[chosen], ready_.back());
        gpu_thread& thread = *ready_.back();
        ready_.pop_back();
        take_turn(thread);
        if (idle_turns_ > 2 * ready_.size()) rest();
    }
    if (!owner_.has_failed()) report_deadlock();
    abandon();
    working = nullptr;
}

void worker::take_turn(gpu_thread& thread) {
    running_ = &thread;
    thread.is_idle = false;
    if (thread.body.is_started())
        thread.body.resume();
    else
        thread.body.start([this] { run_kernel(); });
    running_ = nullptr;
    idle_turns_ = thread.is_idle ? idle_turns_ + 1 : 0;
}

// The body of a fiber.
void worker::run_kernel() {
    try {
        owner_.kernel()();
    } catch (const abandoned&) {
    } catch (const std::string& reason) {
        owner_.fail(reason);
    } catch (const std::exception& error) {
        owner_.fail(std::string("the kernel threw: ") + error.what());
    }
}

// All fibers of this worker wait for flags, which other OS threads post.
void worker::rest() {
    idle_turns_ = 0;
    std::this_thread::yield();
    if (!owner_.is_late()) return;
    for (const block& each : blocks_) {
        if (std::string text = each.description(); !text.empty())
            return owner_.fail("the launch did not end in time; " + text);
    }
}

// No fiber can run. If some have not ended, they wait for threads that never come.
void worker::report_deadlock() {
    for (const block& each : blocks_) {
        if (std::string text = each.description(); !text.empty())
            return owner_.fail("a barrier is not reached by all threads; " + text);
    }
}

// Unwinds the stacks of all fibers that have not ended.
void worker::abandon() {
    is_abandoned_ = true;
    for (block& each : blocks_) {
        for (gpu_thread& thread : each.threads()) {
            if (!thread.body.is_started() || thread.body.has_ended()) continue;
            running_ = &thread;
            thread.body.resume();
        }
    }
}

void worker::leave() {
    running_->body.suspend();
    if (is_abandoned_) throw abandoned{};
}

std::uint64_t worker::meet(meeting kind, std::uint64_t value, unsigned lane) {
    gpu_thread& thread = *running_;
    thread.waits_in = kind;
    thread.value = value;
    thread.lane = lane;
    thread.owner->arrive(thread, ready_);
    leave();
    return thread.result;
}

void worker::pass(bool is_idle) {
    running_->is_idle = is_idle;
    ready_.push_back(running_);
    leave();
}

void worker::may_pass(bool is_idle) {
    if (dice_() % 4 == 0) pass(is_idle);
}

}  // namespace fibers
