// A clock that a test moves.
#pragma once

#include "ucs/time/clock.hpp"

namespace test {

// While it lives, time stands still and moves on command.
class virtual_time {
public:
    virtual_time() {
        now = ucs::time::now();
        ucs::time::set_clock(+[]() noexcept { return now; });
    }
    ~virtual_time() { ucs::time::set_clock(nullptr); }
    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;

    inline static ucs::time::nanoseconds now = 0;
};

}  // namespace test
