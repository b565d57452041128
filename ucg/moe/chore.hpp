// Local work on many rows as one step of a schedule.
#pragma once

#include "ucg/schedule/member.hpp"
#include "ucg/schedule/reducer.hpp"

namespace ucg::moe {

// A step of a schedule is a reduction of one vector, or a copy; this does as much as a whole message
// needs in one step, so that a fabric carries it out, and charges for it, at once. Lies in the frame
// of the algorithm, which waits for its end.
class chore : public schedule::reducer {
public:
    chore() noexcept : reducer(1, true) {}

    // `co_await` it. Nothing is done where there are no bytes. `bytes`: that are written, or read,
    // whichever is more.
    [[nodiscard]] schedule::local_work begin(schedule::member& me, std::size_t bytes) const noexcept {
        return me.reduce(nullptr, {this, {nullptr, nullptr}, 2, bytes, true});
    }

    void combine(void*, const void* const*, std::size_t, std::size_t, bool) const noexcept final {
        work();
    }

protected:
    virtual void work() const noexcept = 0;
};

}  // namespace ucg::moe
