// The copies of one operation, while they are started.
#pragma once

#include <array>
#include <optional>

#include "ucs/cuda/scoped_context.hpp"
#include "uct/cuda/base/copy_queue.hpp"

namespace uct::cuda {

// One end of a copy. `memory` is null for memory of the host.
struct copy_side {
    void* address;
    const ucs::cuda::device_memory* memory;
};

// Returns nothing for memory of the host, or an error, which is logged, if the driver does not
// tell.
[[nodiscard]] ucs::result<std::optional<ucs::cuda::device_memory>> find_memory(
    const void* address) noexcept;

// Logs that a copy cannot be started, and returns UCS_ERR_NO_MEMORY.
ucs_status_t report_no_copy_memory() noexcept;

// Starts copies, keeps their context current in between, and records events behind them. Lives on
// the stack of one thread.
class copy_issue {
public:
    explicit copy_issue(copy_queue& queue) noexcept : queue_(queue) {}
    copy_issue(const copy_issue&) = delete;
    copy_issue& operator=(const copy_issue&) = delete;

    // Starts the copies of all pieces. Returns UCS_OK or an error, which is logged; the copies
    // before it were started.
    ucs_status_t copy_pieces(const copy_queue::transfer& wanted) noexcept;

    // Lets the operation wait for the copies. Copies for which there is no event have ended when
    // this returns. Returns UCS_OK, or an error if a copy may not have ended as it should.
    ucs_status_t record(operation& waiter) noexcept;

    // Returns a stream for copies of this memory, whose context becomes current. Failures are
    // logged. May throw std::bad_alloc.
    [[nodiscard]] ucs::result<lane*> lane_in(const ucs::cuda::device_memory& memory,
                                             lane_number number);

    // Copies on a stream that lane_in() has returned last, and waits for the end. Host memory goes
    // through pinned memory. Returns UCS_OK or an error, which is logged.
    ucs_status_t copy_and_wait(lane& on, const copy_side& to, const copy_side& from,
                               std::size_t length) noexcept;

private:
    ucs_status_t copy(const copy_side& to, const copy_side& from, std::size_t length,
                      const std::optional<lane_number>& wanted) noexcept;
    ucs_status_t copy_on(lane& on, void* to, const void* from, std::size_t length) noexcept;
    [[nodiscard]] ucs_status_t enter(context_streams& streams) noexcept;
    ucs_status_t touch(lane& on) noexcept;
    ucs_status_t record(lane& behind, operation& waiter) noexcept;
    ucs_status_t wait(lane& on) noexcept;

    copy_queue& queue_;
    context_streams* current_ = nullptr;
    ucs::cuda::scoped_context scope_;
    std::array<lane*, 8> touched_{};  // streams with copies that no event follows yet
    std::size_t touched_count_ = 0;
};

}  // namespace uct::cuda
