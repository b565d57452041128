// A reducer for partial results: a reduction over some of the ranks that a later step completes.
#pragma once

#include "ucg/schedule/reducer.hpp"

namespace ucg::algo {

// The same operator, but its results are never final, so an average is not divided yet. The caller
// keeps `whole` alive.
class partial_reducer final : public schedule::reducer {
public:
    explicit partial_reducer(const reducer& whole) noexcept
        : reducer(whole.element(), whole.is_commutative(), whole.kind()), whole_(whole) {}
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool) const noexcept override {
        whole_.combine(into, from, sources, count, false);
    }

private:
    const reducer& whole_;
};

}  // namespace ucg::algo
