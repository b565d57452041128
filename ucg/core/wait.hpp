// Waiting for events of other processes.
#pragma once

#include "ucs/arch/pause.hpp"

namespace ucg {

// Waits until `done`. Calls `progress`, which returns whether anything advanced; while nothing
// does, yields the processor to others after a short time.
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
