#include "ucg/node/early_limit.hpp"

#include <algorithm>

namespace ucg::node {

void early_limit::share::take(std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    if (used_ == 0) whole_.users_.push_back(*this);
    used_ += bytes;
    whole_.used_ += bytes;
    while (whole_.used_ > whole_.most_)
        whole_.largest().cut_off();
}

void early_limit::share::give_back(std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    used_ -= bytes;
    whole_.used_ -= bytes;
    if (used_ == 0) whole_.users_.erase(whole_.users_.iterator_to(*this));
}

// There is at least one.
early_limit::share& early_limit::largest() noexcept {
    return *std::ranges::max_element(users_, {}, &share::used);
}

}  // namespace ucg::node
