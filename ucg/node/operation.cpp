#include "ucg/node/operation.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "ucg/node/engine.hpp"

namespace ucg::node {
namespace {

using schedule::collective;

bool has_counts(collective what) noexcept {
    return what == collective::allgatherv || what == collective::reduce_scatter;
}

}  // namespace

// All blocks together must be addressable.
ucs_status_t operation::check() const noexcept {
    const rank_t ranks = engine_.size();
    if (call_.root >= ranks) return UCS_ERR_INVALID_PARAM;
    if (call_.element == 0) return UCS_ERR_OUT_OF_RANGE;
    const std::uint64_t most = std::numeric_limits<std::size_t>::max() / 2 / call_.element;
    if (!has_counts(call_.what)) return call_.count > most / ranks ? UCS_ERR_OUT_OF_RANGE : UCS_OK;
    const bool placed = call_.what == collective::allgatherv;
    if (call_.counts == nullptr || (placed && call_.places == nullptr))
        return UCS_ERR_INVALID_PARAM;
    std::uint64_t left = most;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        if (call_.counts[rank] > left) return UCS_ERR_OUT_OF_RANGE;
        left -= call_.counts[rank];
    }
    return UCS_OK;
}

ucs_status_t operation::init(const call& what) noexcept try {
    call_ = what;
    if (!has_counts(what.what)) call_.counts = nullptr;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    pattern_ = make_pattern(call_, engine_.who(), engine_.memory().like(), engine_.sizes(),
                            engine_.others());
    if (pattern_ == nullptr) return UCS_ERR_UNSUPPORTED;
    const flow& how = pattern_->how();
    in_mailbox_ =
        how.segments == 1 && how.works == 0 && how.bytes <= engine_.memory().like().mailbox_bytes;
    row_ = engine_.memory().like().row_for(how.bytes);
    claim_.emplace(call_, how, engine_.size());
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

std::string operation::way() const {
    const flow& how = pattern_->how();
    if (how.segments > 1) return fmt::format("{}, {} segments", pattern_->way(), how.segments);
    const bool gives = in_mailbox_ && how.bytes != 0;
    return fmt::format("{}{}", pattern_->way(), gives ? ", in mailboxes" : "");
}

void operation::start() noexcept {
    status_ = UCS_INPROGRESS;
    next_ = nullptr;
    engine_.start(*this);
}

void operation::end(ucs_status_t how) noexcept {
    status_ = how;
    if (told_ != nullptr) told_(*this, told_argument_);
}

}  // namespace ucg::node
