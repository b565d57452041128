// Streams, each with a thread that runs its operations in order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/context.hpp"

namespace standin {

// A point in a stream: all operations up to `sequence`.
struct marker {
    std::shared_ptr<stream> on;
    std::uint64_t sequence = 0;

    // True without a stream. The caller holds the lock.
    [[nodiscard]] bool is_done() const noexcept;
};

// A piece of work of a stream. Parts that fail throw `failure`, which the context keeps. All parts
// may be empty.
struct operation {
    // Runs when the operation begins, before its delay; with the lock held, and perhaps inside the
    // call that queues the operation.
    std::function<void()> begin;
    // Runs after the delay, on the stream's thread, without the lock.
    std::function<void()> run;
    // Runs at the end, also after a failure, with the lock held.
    std::function<void()> finish;
    // Operations of other streams that must be done before.
    std::vector<marker> after;
    bool is_host_function = false;
    std::uint64_t sequence = 0;
};

// Owned by the table of streams until it is destroyed, and by its thread while that has work. The
// lock guards it.
struct stream : std::enable_shared_from_this<stream> {
    CUstream handle = nullptr;
    context_ref owner;
    bool is_blocking = true;  // waits for the legacy stream, and this for it
    bool is_legacy = false;
    bool is_destroyed = false;
    bool is_capturing = false;
    bool has_thread = false;
    std::uint64_t number = 0;  // in the context, for the seed
    std::uint64_t queued = 0;
    std::uint64_t completed = 0;
    std::uint64_t last_host_function = 0;
    std::deque<operation> pending;
};

using stream_ref = std::shared_ptr<stream>;

// Returns a stream by handle: null and 1 are the legacy stream of the current context, 2 is this
// thread's. Fails with CUDA_ERROR_INVALID_HANDLE, and if the stream's context does not work.
[[nodiscard]] stream_ref find_stream(CUstream handle);
// As above, but null is this thread's stream (functions with _ptsz).
[[nodiscard]] stream_ref find_stream_per_thread(CUstream handle);

// Adds an operation and returns its place.
marker enqueue(const stream_ref& on, operation added);

// Returns what a program waits for that synchronizes with the stream: for the legacy stream, also
// the work of streams that it blocks.
[[nodiscard]] std::vector<marker> whole_work(const stream& on);

[[nodiscard]] bool are_done(const std::vector<marker>& awaited) noexcept;
void wait_for(held_lock& lock, const std::vector<marker>& awaited);

// Waits for all work of a context. Failures of the work are left to the caller.
void drain(held_lock& lock, const context& working);

// Forgets the streams of a context, which has no work any more.
void drop_streams(context& dying);

// Calls the visitor with each stream that a program has created.
void for_each_stream(const std::function<void(const stream&)>& visitor);

}  // namespace standin
