#include "ucg/node/operation.hpp"

#include <limits>
#include <new>

#include "ucg/node/engine.hpp"

namespace ucg::node {
namespace {

std::uint64_t mix(std::uint64_t into, std::uint64_t value) noexcept {
    into = (into ^ value) * 0x9e3779b97f4a7c15;
    return into ^ into >> 29;
}

}  // namespace

ucs_status_t operation::init(const call& what) noexcept try {
    const rank_t ranks = engine_.size();
    if (what.root >= ranks) return UCS_ERR_INVALID_PARAM;
    const std::uint64_t most = std::numeric_limits<std::size_t>::max() / 2 / ranks;
    if (what.element == 0 || what.count > most / what.element) return UCS_ERR_OUT_OF_RANGE;
    call_ = what;
    pattern_ = make_pattern(call_, engine_.rank(), engine_.memory().like(), engine_.sizes());
    if (pattern_ == nullptr) return UCS_ERR_UNSUPPORTED;
    const flow& how = pattern_->how();
    in_mailbox_ =
        how.segments == 1 && !how.works && how.bytes <= engine_.memory().like().mailbox_bytes;
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void operation::start() noexcept {
    status_ = UCS_INPROGRESS;
    next_ = nullptr;
    engine_.start(*this);
}

// What all ranks must agree on.
std::uint64_t operation::signature() const noexcept {
    std::uint64_t all = mix(static_cast<std::uint64_t>(call_.what) + 1, call_.count);
    all = mix(all, call_.element);
    return mix(all, call_.root);
}

void operation::end(ucs_status_t how) noexcept {
    status_ = how;
    if (told_ != nullptr) told_(*this, told_argument_);
}

}  // namespace ucg::node
