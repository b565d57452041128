// State bits of a request, which one thread may read while another changes them.
#pragma once

#include <atomic>
#include <cstdint>

namespace ucp {

// Only the thread that holds the worker changes them. Any thread that waits for the request reads
// `completed`, which orders what the operation wrote before it. Plain moves on x86, no locked
// instructions.
class request_flags {
public:
    enum bit : std::uint16_t {
        completed = 1U << 0,
        released = 1U << 1,  // the program freed it: in the pool, or returned there when it ends
        has_callback = 1U << 2,  // the request's callback is to be called
        user_memory = 1U << 3,   // the request lies in memory of the program
        starting = 1U << 4,      // inside the call that started it: no callback from there
        matched = 1U << 5,       // a receive that has its message: cannot be canceled
        internal = 1U << 6,      // not visible to the program: returned to the pool when it ends
        ended = 1U << 7,         // ended while `starting`: only the callback is missing
    };

    [[nodiscard]] bool has(unsigned bits) const noexcept { return (all() & bits) != 0; }
    [[nodiscard]] unsigned all() const noexcept {
        return reference().load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_completed() const noexcept {
        return (reference().load(std::memory_order_acquire) & completed) != 0;
    }
    void set(unsigned bits) noexcept { store(all() | bits); }
    void clear(unsigned bits) noexcept { store(all() & ~bits); }
    void assign(unsigned bits) noexcept { store(bits); }

private:
    [[nodiscard]] std::atomic_ref<std::uint16_t> reference() const noexcept {
        return std::atomic_ref(value_);
    }
    void store(unsigned bits) noexcept {
        reference().store(static_cast<std::uint16_t>(bits), std::memory_order_release);
    }
    mutable std::uint16_t value_;
};

}  // namespace ucp
