#include "ucp/tag/match/posting_order.hpp"

#include <bit>
#include <limits>
#include <new>

namespace ucp::tag {

// Allocates a larger array. The recorded addresses are dropped, and the receives that are posted
// from now on are recorded in the new array. If there is no memory, never tries again.
void posting_order::grow(std::size_t posted) noexcept {
    const std::size_t size = 2 * std::bit_ceil(posted);
    std::unique_ptr<std::uintptr_t[]> fresh(new (std::nothrow) std::uintptr_t[size]());
    if (fresh == nullptr) {
        reach_ = std::numeric_limits<std::size_t>::max();
        return;
    }
    addresses_ = std::move(fresh);
    mask_ = size - 1;
    reach_ = size;
}

}  // namespace ucp::tag
