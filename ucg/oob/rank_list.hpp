// Ranks as people read them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ucg::oob {

using rank_t = std::uint32_t;

// "rank 4", "ranks 1, 3-5 and 9", with "and 40 more" instead of what is not among the first ranges.
// `ranks` ascend; `unlisted` more are meant that the caller does not know.
[[nodiscard]] std::string rank_list(std::span<const rank_t> ranks, std::uint64_t unlisted = 0);

}  // namespace ucg::oob
