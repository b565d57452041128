// The fabric: the interface that executes the steps of schedules. There is one implementation for
// networks, one for the shared memory of a node, and one for simulations.
#pragma once

#include <vector>

#include "ucg/schedule/placement.hpp"
#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// One object per rank and group. Owner context: all calls come from the thread that drives the
// group, and the fabric calls operation::complete() in that thread.
//
// Messages match by (source, operation, channel). Messages that agree in all three match in the
// order in which they were posted. Both sides must pass the same number of bytes. A message may
// arrive before its receive is posted, and before the receiver has started the operation.
class fabric {
public:
    fabric() = default;
    fabric(const fabric&) = delete;
    fabric& operator=(const fabric&) = delete;
    virtual ~fabric() = default;

    [[nodiscard]] virtual rank_t rank() const noexcept = 0;
    [[nodiscard]] virtual rank_t size() const noexcept = 0;

    // Returns which ranks share a node, or null if the fabric cannot run collectives of a node
    // (action::node_collective).
    [[nodiscard]] virtual const placement* node_placement() const noexcept { return nullptr; }

    // Returns the ranks of its node that the operation waits for in a collective of the node.
    // Throws std::bad_alloc.
    [[nodiscard]] virtual std::vector<rank_t> missing_on_node(const operation&) const { return {}; }

    // Returns the ranks that have not started the operation, as far as this rank knows. Throws
    // std::bad_alloc.
    [[nodiscard]] virtual std::vector<rank_t> stragglers(const operation&) const { return {}; }

    // Begins a step. The fabric ends it by operation::complete(), possibly before post() returns.
    // Reductions and copies are steps as well, so that a fabric can simulate their time or offload
    // them. A fabric that executes them itself calls perform(). Never blocks.
    virtual void post(step& step) noexcept = 0;

    // Cancels a step in flight because its operation failed. The step still ends by
    // operation::complete(), with any status, and only when nothing accesses its memory any more.
    virtual void cancel(step& step) noexcept = 0;

    // Called when an operation starts. Returns in `number` the next sequence number of its series,
    // which is the same on every rank because all ranks start the operations of a series in the
    // same order. Returns an error if another rank has already reported a failure of this
    // operation. Throws std::bad_alloc. In both cases the operation counts as started, and calls
    // report_failure().
    [[nodiscard]] virtual ucs_status_t begin_operation(operation& operation,
                                                       sequence_t& number) = 0;

    // Called when the operation has ended on this rank and none of its steps is in flight. Messages
    // that arrive for it later, after a failure, are dropped.
    virtual void end_operation(operation& operation) noexcept = 0;

    // Withdraws this rank, if all ranks are on one node. Operations in which other ranks need this
    // rank end with the status, and so do operations that this rank starts.
    virtual void withdraw(ucs_status_t) noexcept {}

    // Called when the operation failed on this rank. The fabric notifies the other ranks. Each rank
    // that has not ended the operation calls operation::fail_as_notified() within a bounded time.
    virtual void report_failure(operation& operation, ucs_status_t status) noexcept = 0;
};

// Executes a reduce or copy step on the calling thread, for fabrics without a better way.
void perform(const step& step) noexcept;

}  // namespace ucg::schedule
