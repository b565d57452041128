// The locks of thread mode MULTI.
#pragma once

#include <atomic>
#include <cstdint>

namespace ucs::sys {

// Recursive lock that waits by spinning, then yielding, then sleeping in the kernel; satisfies
// Lockable. Uncontended lock and unlock are one atomic operation each. Any thread.
class recursive_lock {
public:
    recursive_lock() noexcept = default;
    recursive_lock(const recursive_lock&) = delete;
    recursive_lock& operator=(const recursive_lock&) = delete;

    void lock() noexcept {
        if (!try_lock()) lock_slow();
    }

    bool try_lock() noexcept {
        const std::uintptr_t self = this_thread();
        if (owner_.load(std::memory_order_relaxed) == self) {
            ++depth_;
            return true;
        }
        std::uint32_t expected = free;
        if (!state_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
            return false;
        }
        take(self);
        return true;
    }

    void unlock() noexcept {
        if (--depth_ != 0) return;
        owner_.store(0, std::memory_order_relaxed);
        if (state_.exchange(free, std::memory_order_release) == contended) wake_one();
    }

    [[nodiscard]] bool is_held_by_this_thread() const noexcept {
        return owner_.load(std::memory_order_relaxed) == this_thread();
    }

private:
    enum : std::uint32_t { free, held, contended };

    // Identifies a thread by the address of a thread-local byte, which is cheaper than its thread
    // id.
    static std::uintptr_t this_thread() noexcept {
        static constinit thread_local char mark = 0;
        return reinterpret_cast<std::uintptr_t>(&mark);
    }

    void take(std::uintptr_t self) noexcept {
        owner_.store(self, std::memory_order_relaxed);
        depth_ = 1;
    }

    void lock_slow() noexcept;
    void wake_one() noexcept;

    std::atomic<std::uint32_t> state_{free};
    std::uint32_t depth_ = 0;               // nesting depth of the owner
    std::atomic<std::uintptr_t> owner_{0};  // only the owner compares equal
};

// A recursive_lock that is active only in thread mode MULTI. Otherwise each call is one
// well-predicted branch. Lockable.
class optional_lock {
public:
    explicit optional_lock(bool enabled) noexcept : enabled_(enabled) {}

    void lock() noexcept {
        if (enabled_) [[unlikely]]
            lock_.lock();
    }
    bool try_lock() noexcept { return !enabled_ || lock_.try_lock(); }
    void unlock() noexcept {
        if (enabled_) [[unlikely]]
            lock_.unlock();
    }
    [[nodiscard]] bool enabled() const noexcept { return enabled_; }

private:
    const bool enabled_;
    recursive_lock lock_;
};

}  // namespace ucs::sys
