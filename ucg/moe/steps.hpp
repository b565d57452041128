// The steps of an exchange: those of ucg/schedule, and work items, which are local work on many
// rows that a schedule runs as one step.
#pragma once

#include <utility>

#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucg/schedule/task_group.hpp"

namespace ucg::moe {

using schedule::flight;
using schedule::flights;
using schedule::member;
using schedule::program;
using schedule::require;
using schedule::task;
using schedule::task_group;

// An ordinary step of a schedule reduces or copies one vector. A work item processes a whole
// message in one step, so that the fabric executes and accounts for it at once. The object lies in
// the coroutine frame of the algorithm, which waits for its end.
class work_item : public schedule::reducer {
public:
    work_item() noexcept : reducer(1, true) {}

    // The caller must `co_await` the result. `bytes` is the larger one of the numbers of bytes read
    // and written. If it is 0, nothing is done.
    [[nodiscard]] schedule::local_work begin(member& me, std::size_t bytes) const noexcept {
        return me.reduce(nullptr, {this, {nullptr, nullptr}, 2, bytes, true});
    }

    void combine(void*, const void* const*, std::size_t, std::size_t, bool) const noexcept final {
        work();
    }

protected:
    virtual void work() const noexcept = 0;
};

// A work item that calls a function object.
template<class Work>
class work_of final : public work_item {
public:
    explicit work_of(Work work) noexcept : work_(std::move(work)) {}

private:
    void work() const noexcept override { work_(); }

    Work work_;
};

}  // namespace ucg::moe
