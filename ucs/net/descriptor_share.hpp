// Derives limits on connections from the number of descriptors that this process may open.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

namespace ucs::net {

// Returns the limit of descriptors (RLIMIT_NOFILE) divided by `divisor`, but no less than `least`
// and no more than `most`.
[[nodiscard]] inline std::size_t descriptor_share(std::size_t divisor, std::size_t least,
                                                  std::size_t most) noexcept {
    constexpr std::size_t usual_limit = 1024;
    rlimit allowed{};
    const bool is_known = ::getrlimit(RLIMIT_NOFILE, &allowed) == 0;
    const std::size_t limit = is_known ? allowed.rlim_cur : usual_limit;
    return std::clamp(limit / divisor, least, most);
}

}  // namespace ucs::net
