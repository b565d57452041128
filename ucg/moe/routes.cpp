#include "ucg/moe/routes.hpp"

#include "ucg/moe/log.hpp"

namespace ucg::moe {

ucs_status_t routes::check_header(rank_t source, std::uint64_t fingerprint) const noexcept {
    if (header_.form == route_header::version && header_.source == source &&
        header_.fingerprint != fingerprint) {
        ucs::log::error(moe_log,
                        "rank {} has other experts, channels, choices per token or masks than this "
                        "rank: give the same on all ranks",
                        source);
        return UCS_ERR_INVALID_PARAM;
    }
    const bool fits = header_.form == route_header::version && header_.source == source &&
                      header_.tokens <= choices::most_tokens && header_.relayed <= 1 &&
                      total() <= header_.tokens;
    if (!fits) report("a header that cannot be");
    return fits ? UCS_OK : UCS_ERR_IO_ERROR;
}

void routes::report(const char* what) const noexcept {
    ucs::log::error(moe_log,
                    "of rank {} came {}: look whether all ranks run the same version of the library",
                    header_.source, what);
}

}  // namespace ucg::moe
