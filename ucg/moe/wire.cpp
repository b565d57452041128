#include "ucg/moe/wire.hpp"

#include "ucg/moe/plan/choices.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg::moe {

ucs_status_t check(const route_header& header, rank_t source, std::uint64_t fingerprint) noexcept {
    if (header.form != route_header::version || header.source != source ||
        header.tokens > choices::max_tokens || header.relayed > 1)
        return refuse_from(source, "an invalid header");
    if (header.fingerprint == fingerprint) return UCS_OK;
    ucs::log::error(moe_log,
                    "rank {} has other experts, masks, sizes, types, channels or choices per token "
                    "than this rank: give the same on all ranks",
                    source);
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t refuse_from(rank_t source, const char* reason) noexcept {
    ucs::log::error(moe_log,
                    "rank {} sent {}: check that all ranks run the same version of the library",
                    source, reason);
    return UCS_ERR_IO_ERROR;
}

}  // namespace ucg::moe
