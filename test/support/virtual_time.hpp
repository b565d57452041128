// A clock that the test controls.
#pragma once

#include "ucs/time/clock.hpp"

namespace test {

// During its lifetime time stands still, and the test advances it.
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
