// The header by which a rank introduces what it sends.
#pragma once

#include "ucg/moe/team.hpp"
#include "ucg/moe/wire.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

// UCS_ERR_INVALID_PARAM: it is of `source`, which does not agree with this rank; UCS_ERR_IO_ERROR:
// it cannot be what `source` says. Logged.
[[nodiscard]] ucs_status_t check(const route_header& what, rank_t source,
                                 std::uint64_t fingerprint) noexcept;

// Something came that no rank sends. UCS_ERR_IO_ERROR.
ucs_status_t refuse_from(rank_t source, const char* what) noexcept;

}  // namespace ucg::moe
