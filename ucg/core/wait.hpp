// Waiting for what comes from elsewhere.
#pragma once

#include "ucs/arch/pause.hpp"

namespace ucg {

// Until `done`: calls `progress`, which says whether anything moved; while nothing does, gives the
// processor to others after a short time.
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
