// Checks of the header at the start of each notify and low-latency message.
#pragma once

#include "ucg/moe/team.hpp"
#include "ucg/moe/wire.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

// Returns UCS_ERR_INVALID_PARAM if `source` uses other parameters than this rank, and
// UCS_ERR_IO_ERROR if `source` cannot have sent such a header. Logs the reason.
[[nodiscard]] ucs_status_t check(const route_header& header, rank_t source,
                                 std::uint64_t fingerprint) noexcept;

// Logs that `source` sent a message that no correct rank sends. Returns UCS_ERR_IO_ERROR.
ucs_status_t refuse_from(rank_t source, const char* reason) noexcept;

}  // namespace ucg::moe
