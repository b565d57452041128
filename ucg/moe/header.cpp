#include "ucg/moe/header.hpp"

#include "ucg/moe/choices.hpp"
#include "ucg/moe/log.hpp"

namespace ucg::moe {

ucs_status_t check(const route_header& what, rank_t source, std::uint64_t fingerprint) noexcept {
    if (what.form != route_header::version || what.source != source ||
        what.tokens > choices::most_tokens || what.relayed > 1)
        return refuse_from(source, "a header that cannot be");
    if (what.fingerprint == fingerprint) return UCS_OK;
    ucs::log::error(moe_log,
                    "rank {} has other experts, masks, sizes, types, channels or choices per token "
                    "than this rank: give the same on all ranks",
                    source);
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t refuse_from(rank_t source, const char* what) noexcept {
    ucs::log::error(moe_log,
                    "of rank {} came {}: look whether all ranks run the same version of the "
                    "library",
                    source, what);
    return UCS_ERR_IO_ERROR;
}

}  // namespace ucg::moe
