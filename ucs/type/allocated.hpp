// Running out of memory as a result of a function that must not throw.
#pragma once

#include <new>

namespace ucs {

// Runs `step`. Returns false if there is no memory; what `step` did before that stays, so a step
// that leaves half of something to its caller says so there. Another exception ends the process.
template<class Step>
[[nodiscard]] bool allocated(Step&& step) noexcept {
    try {
        step();
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

}  // namespace ucs
