#include "ucg/node/rings/early_limit.hpp"

#include <algorithm>

namespace ucg::node {

void early_limit::share::take(std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    if (used_ == 0) total_.users_.push_back(*this);
    used_ += bytes;
    total_.used_ += bytes;
    while (total_.used_ > total_.limit_)
        total_.largest().cut_off();
}

void early_limit::share::give_back(std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    used_ -= bytes;
    total_.used_ -= bytes;
    if (used_ == 0) total_.users_.erase(total_.users_.iterator_to(*this));
}

// Precondition: at least one share is not 0.
early_limit::share& early_limit::largest() noexcept {
    return *std::ranges::max_element(users_, {}, &share::used);
}

}  // namespace ucg::node
