#include "tools/perf/core/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tools::perf {

void sampler::clear() noexcept {
    seen_ = 0;
    skip_mask_ = 0;
    used_ = 0;
}

void sampler::thin_out() noexcept {
    used_ = capacity / 2;
    for (std::size_t index = 0; index < used_; ++index)
        samples_[index] = samples_[2 * index];
    skip_mask_ = skip_mask_ * 2 + 1;
}

std::uint64_t sampler::percentile(double rank) const {
    if (used_ == 0) return 0;
    std::vector<std::uint64_t> sorted(samples_.begin(),
                                      samples_.begin() + static_cast<std::ptrdiff_t>(used_));
    const double position = std::ceil(rank / 100.0 * static_cast<double>(used_));
    const auto index =
        static_cast<std::ptrdiff_t>(std::clamp(position - 1, 0.0, static_cast<double>(used_ - 1)));
    std::nth_element(sorted.begin(), sorted.begin() + index, sorted.end());
    return sorted[static_cast<std::size_t>(index)];
}

}  // namespace tools::perf
