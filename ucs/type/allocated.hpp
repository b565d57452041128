// Running out of memory as a result of a function that must not throw.
#pragma once

#include <new>

namespace ucs {

// Runs `step`, which allocates before it changes anything. Returns false if there is no memory.
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
