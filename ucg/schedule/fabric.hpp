// What moves the messages of schedules: the one thing that differs between a network, a node's
// shared memory and a simulation.
#pragma once

#include <vector>

#include "ucg/schedule/placement.hpp"
#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// One per rank and group. Owner context: all calls come from the thread that drives the group, and
// operation::complete() is called there.
//
// Messages match by (source, operation, channel), and those that agree in all three in the order in
// which they were posted; both sides name the same number of bytes. A message may come before its
// receive, and before the receiver started the operation.
class fabric {
public:
    fabric() = default;
    fabric(const fabric&) = delete;
    fabric& operator=(const fabric&) = delete;
    virtual ~fabric() = default;

    [[nodiscard]] virtual rank_t rank() const noexcept = 0;
    [[nodiscard]] virtual rank_t size() const noexcept = 0;

    // Which ranks share a node, where it can do collectives between them (action::together); null:
    // it cannot.
    [[nodiscard]] virtual const placement* where() const noexcept { return nullptr; }

    // The ranks of its node that an operation waits for where it does something together with them.
    // std::bad_alloc.
    [[nodiscard]] virtual std::vector<rank_t> missing_on_node(const operation&) const { return {}; }

    // Begins a step, which ends by operation::complete(), possibly before this returns. Reducing
    // and copying are steps as well, so that they can be given a price or be done elsewhere; a
    // fabric that does them itself calls perform() below. Never blocks.
    virtual void post(step& what) noexcept = 0;

    // Makes a step under way end soon, with any status: its operation failed. It still ends by
    // operation::complete(), and only when nobody touches its memory any more.
    virtual void cancel(step& what) noexcept = 0;

    // An operation starts: gives it the next sequence number of its series, the same on every
    // rank because all start those of a series in the same order. An error: another rank reported
    // already that this operation failed there, or there is no memory for it; it counts as started
    // nevertheless, and the operation announces it.
    [[nodiscard]] virtual ucs_status_t enter(operation& what, sequence_t& number) noexcept = 0;

    // It ended here; no step of it is under way. After a failure, messages for it may still come:
    // they are dropped.
    virtual void leave(operation& what) noexcept = 0;

    // It failed here, and the others cannot know. Those that have not ended it are to call
    // operation::fail_as_told(), within a bounded time.
    virtual void announce(operation& what, ucs_status_t why) noexcept = 0;
};

// Does a reduce or copy step at once, for fabrics that have no better place for it.
void perform(const step& what) noexcept;

}  // namespace ucg::schedule
