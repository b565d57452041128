#include "ucg/moe/plan/routes.hpp"

namespace ucg::moe {

ucs_status_t routes::check_header(rank_t source, std::uint64_t fingerprint) const noexcept {
    const ucs_status_t status = check(header_, source, fingerprint);
    if (status != UCS_OK) return status;
    bool fits = total() <= header_.tokens;
    for (const std::uint32_t count : targets())
        fits = fits && count <= header_.tokens;
    return fits ? UCS_OK : refuse_from(source, "more rows than it has tokens");
}

}  // namespace ucg::moe
