// Awaitable objects for messages, local work and node collectives that are in flight.
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

class member;

// Waits until a completion counter is 0. If the operation failed, the waiting coroutine is never
// resumed.
struct completion_awaiter {
    completion_counter& awaited;
    const operation* owner;  // null: nothing was begun

    [[nodiscard]] bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<> waiter) const noexcept { awaited.waiter = waiter; }
    void await_resume() const noexcept {}
};

// A send, a receive, or one of each. It is in flight from the call that begins it. `co_await` waits
// for its end; afterwards the object can be used again. A flight that is not awaited must have
// ended before the algorithm ends. Lies in the frame of the algorithm.
class [[nodiscard]] flight {
public:
    flight() = default;
    flight(const flight&) = delete;
    flight& operator=(const flight&) = delete;

    // Sends `bytes` bytes of `data` to rank `to`. `data` must not change before the end.
    void send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept;
    // Receives exactly `bytes` bytes from rank `from`. `data` must not be read before the end.
    void receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept;
    // Sends and receives. It ends when both have ended. The two ranks may differ.
    void exchange(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from,
                  void* in, std::size_t in_bytes) noexcept;

    completion_awaiter operator co_await() noexcept {
        return {counter_, in_.owner != nullptr ? in_.owner : out_.owner};
    }

private:
    friend class member;
    flight(member& me, rank_t to, const void* out, std::size_t out_bytes) noexcept;
    flight(member& me, rank_t from, void* in, std::size_t in_bytes) noexcept;
    flight(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from, void* in,
           std::size_t in_bytes) noexcept;
    void begin_send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept;
    void begin_receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept;

    completion_counter counter_;
    step out_;
    step in_;
};

// A reduction or a copy in flight.
class [[nodiscard]] local_work {
public:
    local_work(const local_work&) = delete;
    local_work& operator=(const local_work&) = delete;

    completion_awaiter operator co_await() noexcept { return {counter_, step_.owner}; }

private:
    friend class member;
    local_work(member& me, void* into, const reduction& operands) noexcept;
    local_work(member& me, void* into, const void* from, std::size_t bytes) noexcept;

    completion_counter counter_;
    step step_;
    reduction operands_;
};

// A collective of this rank's node. It is in flight from the call that begins it. The object can be
// used again after the end.
class [[nodiscard]] node_work {
public:
    node_work() = default;
    node_work(member& me, const call& args) noexcept { begin(me, args); }
    node_work(const node_work&) = delete;
    node_work& operator=(const node_work&) = delete;

    void begin(member& me, const call& args) noexcept;

    completion_awaiter operator co_await() noexcept { return {counter_, step_.owner}; }

private:
    completion_counter counter_;
    step step_;
    call args_;
};

// For a number of flights that is known only at run time. Lies in the frame of the algorithm. If
// there is no memory, status() returns UCS_ERR_NO_MEMORY.
class flights {
public:
    explicit flights(std::size_t count) noexcept : all_(new (std::nothrow) flight[count]) {}

    [[nodiscard]] ucs_status_t status() const noexcept {
        return all_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    [[nodiscard]] flight& operator[](std::size_t i) noexcept { return all_[i]; }

private:
    std::unique_ptr<flight[]> all_;
};

}  // namespace ucg::schedule
