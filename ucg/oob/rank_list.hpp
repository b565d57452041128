// Formats lists of ranks for log lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ucg::oob {

using rank_t = std::uint32_t;

// Returns a text such as "rank 4" or "ranks 1, 3-5 and 9", with "and 40 more" for ranks after the
// first ranges. `ranks` ascend. `unlisted` counts further ranks that the caller cannot name.
[[nodiscard]] std::string rank_list(std::span<const rank_t> ranks, std::uint64_t unlisted = 0);

}  // namespace ucg::oob
