// An operation: one rank's part in a collective, which can be started repeatedly.
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <vector>

#include "ucg/schedule/arena.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/schedule/member.hpp"
#include "ucg/schedule/runnable.hpp"
#include "ucg/schedule/task.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucg::schedule {

struct algorithm;

// Runs an algorithm or a program over a fabric. Owner context.
class operation final : public runnable {
public:
    operation(fabric& fabric, frame_pool& frames, series numbered = series::program) noexcept
        : fabric_(fabric), frames_(frames), series_(numbered) {}
    // Prepares a call with an algorithm that can_run() accepts. Allocates all memory except the
    // coroutine frames, which stay in the pool after the first start. The memory that `args` points
    // to must stay valid; the caller may replace buffers between two starts (arguments()).
    // UCS_ERR_NO_MEMORY.
    [[nodiscard]] ucs_status_t init(const algorithm& algorithm, const call& args) noexcept;
    // Prepares a program instead of a collective. The program must outlive the operation.
    void init(program& program) noexcept;

    // Begins the operation, which must not be running. All ranks must start the operations of a
    // series in the same order.
    void start() noexcept override;
    // Takes the sequence number, as start() does.
    void start_failed(ucs_status_t status) noexcept override;

    [[nodiscard]] sequence_t number() const noexcept { return number_; }
    [[nodiscard]] series numbered() const noexcept { return series_; }

    [[nodiscard]] std::vector<rank_t> missing() const override;
    // Returns the ranks from which the operation waits for a message, ascending and without
    // duplicates.
    [[nodiscard]] std::vector<rank_t> awaited() const;
    // Returns the ranks that have not received a message of this rank.
    [[nodiscard]] std::vector<rank_t> unsent() const { return peers_of(action::send); }
    [[nodiscard]] bool is_waiting_for(rank_t rank) const noexcept;

    // The operation ends as soon as the fabric no longer accesses its memory.
    void fail(ucs_status_t status) noexcept override;
    // The same after a notification from another rank; does not notify other ranks.
    void fail_as_notified(ucs_status_t status) noexcept;

    // The fabric calls this once for each post(), when the step has ended. It may resume the
    // algorithm, which may post further steps before complete() returns.
    void complete(step& ended, ucs_status_t status) noexcept;

    // For steps and tasks.
    [[nodiscard]] const fabric& used_fabric() const noexcept { return fabric_; }
    void post(step& step) noexcept;
    [[nodiscard]] bool failed() const noexcept { return failure_ != UCS_OK; }
    // Returns whether the algorithm runs collectives of a node.
    [[nodiscard]] bool uses_nodes() const noexcept;
    [[nodiscard]] frame_pool& frames() noexcept { return frames_; }
    [[nodiscard]] arena& scratch() noexcept { return scratch_; }

    ucs::datastruct::auto_unlink_hook node_hook;  // for the fabric: operations that use the node

private:
    [[nodiscard]] std::vector<rank_t> peers_of(action kind) const;
    [[nodiscard]] ucs_status_t begin() noexcept;
    void finish_if_done() noexcept;
    void link(step& step) noexcept;
    void unlink(step& step) noexcept;

    fabric& fabric_;
    frame_pool& frames_;
    const series series_;
    const algorithm* algorithm_ = nullptr;
    program* program_ = nullptr;  // used if algorithm_ is null
    member me_{*this, 0, 0};
    std::vector<std::uint64_t> offsets_;  // offsets of a reduce_scatter's blocks
    std::unique_ptr<std::byte[]> memory_;
    arena scratch_;

    sequence_t number_ = 0;
    ucs_status_t failure_ = UCS_OK;
    unsigned busy_ =
        0;  // functions of this class on the call stack; frames are destroyed only if it is 0
    step* in_flight_ = nullptr;
    completion_counter end_;
    task root_;
};

// co_await require(me, status): if the status is UCS_OK, the coroutine continues. Otherwise the
// operation fails with this status on every rank, and the coroutine is not resumed.
class [[nodiscard]] require {
public:
    require(member& me, ucs_status_t status) noexcept : owner_(me.owner()), status_(status) {}

    [[nodiscard]] bool await_ready() const noexcept { return status_ == UCS_OK; }
    void await_suspend(std::coroutine_handle<>) const noexcept { owner_.fail(status_); }
    void await_resume() const noexcept {}

private:
    operation& owner_;
    ucs_status_t status_;
};

}  // namespace ucg::schedule
