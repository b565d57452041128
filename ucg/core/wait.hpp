// A loop that makes progress until a condition holds.
#pragma once

#include "ucs/arch/pause.hpp"

namespace ucg {

// Calls `progress` until `done` returns true. `progress` returns whether anything advanced. After
// some calls in which nothing did, yields the processor to other threads between the calls.
template<class Done, class Progress>
void wait_politely(const Done& done, const Progress& progress) noexcept {
    ucs::arch::backoff pauses;
    while (!done()) {
        if (progress())
            pauses.reset();
        else
            pauses.wait();
    }
}

}  // namespace ucg
