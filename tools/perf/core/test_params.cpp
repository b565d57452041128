#include "tools/perf/core/test_params.hpp"

#include <algorithm>
#include <numeric>

namespace tools::perf {

std::size_t test_params::message_size() const noexcept {
    return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0});
}

std::size_t test_params::extent() const noexcept {
    if (stride == 0 || pieces.empty()) return message_size();
    return stride * (pieces.size() - 1) + pieces.back();
}

std::uint64_t test_params::warmup_iterations() const noexcept {
    return std::min(warmup, iterations / 10 + (iterations % 10 != 0 ? 1 : 0));
}

}  // namespace tools::perf
