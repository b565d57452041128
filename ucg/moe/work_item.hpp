// A work item: local work on many rows that a schedule runs as one step.
#pragma once

#include "ucg/schedule/member.hpp"
#include "ucg/schedule/reducer.hpp"

namespace ucg::moe {

// An ordinary step of a schedule reduces or copies one vector. A work item processes a whole
// message in one step, so that the fabric executes and accounts for it at once. The object lies in
// the coroutine frame of the algorithm, which waits for its end.
class work_item : public schedule::reducer {
public:
    work_item() noexcept : reducer(1, true) {}

    // The caller must `co_await` the result. `bytes` is the larger one of the numbers of bytes read
    // and written. If it is 0, nothing is done.
    [[nodiscard]] schedule::local_work begin(schedule::member& me,
                                             std::size_t bytes) const noexcept {
        return me.reduce(nullptr, {this, {nullptr, nullptr}, 2, bytes, true});
    }

    void combine(void*, const void* const*, std::size_t, std::size_t, bool) const noexcept final {
        work();
    }

protected:
    virtual void work() const noexcept = 0;
};

}  // namespace ucg::moe
