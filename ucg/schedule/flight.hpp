// Messages and local work under way, as algorithms see them.
#pragma once

#include <coroutine>
#include <cstddef>

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

class member;

// Waits until a gate closes; never, where the operation failed.
struct gate_awaiter {
    gate& at;
    const operation* owner;  // null: nothing was begun

    [[nodiscard]] bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<> waiter) const noexcept { at.waiter = waiter; }
    void await_resume() const noexcept {}
};

// A send, a receive, or one of each. It is under way from the call that begins it; `co_await it`
// waits for the end, and then it can be used again. Those that nothing waits for any more must have
// ended before the algorithm does. Lies in the frame of the algorithm.
class [[nodiscard]] flight {
public:
    flight() = default;
    flight(const flight&) = delete;
    flight& operator=(const flight&) = delete;

    // Sends `bytes` bytes of `data` to rank `to`; `data` may not change before the end.
    void send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept;
    // Receives exactly `bytes` bytes from rank `from`; `data` may not be looked at before the end.
    void receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept;
    // Both at once; the end is that of both. The ranks may differ.
    void exchange(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from,
                  void* in, std::size_t in_bytes) noexcept;

    gate_awaiter operator co_await() noexcept {
        return {gate_, in_.owner != nullptr ? in_.owner : out_.owner};
    }

private:
    friend class member;
    flight(member& me, rank_t to, const void* out, std::size_t out_bytes) noexcept;
    flight(member& me, rank_t from, void* in, std::size_t in_bytes) noexcept;
    flight(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from, void* in,
           std::size_t in_bytes) noexcept;
    void begin_send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept;
    void begin_receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept;

    gate gate_;
    step out_;
    step in_;
};

// A reduction or a copy under way.
class [[nodiscard]] local_work {
public:
    local_work(const local_work&) = delete;
    local_work& operator=(const local_work&) = delete;

    gate_awaiter operator co_await() noexcept { return {gate_, step_.owner}; }

private:
    friend class member;
    local_work(member& me, void* into, const reduction& what) noexcept;
    local_work(member& me, void* into, const void* from, std::size_t bytes) noexcept;

    gate gate_;
    step step_;
    reduction what_;
};

// A collective of this rank's node. It is under way from the call that begins it, and can be used
// again when it has ended.
class [[nodiscard]] node_work {
public:
    node_work() = default;
    node_work(member& me, const call& what) noexcept { begin(me, what); }
    node_work(const node_work&) = delete;
    node_work& operator=(const node_work&) = delete;

    void begin(member& me, const call& what) noexcept;

    gate_awaiter operator co_await() noexcept { return {gate_, step_.owner}; }

private:
    gate gate_;
    step step_;
    call what_;
};

}  // namespace ucg::schedule
