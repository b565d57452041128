#include "ucg/node/engine/operation.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>
#include <numeric>

#include "ucg/node/engine/engine.hpp"

namespace ucg::node {

using schedule::collective;

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

std::string reducer_text(std::uint64_t kind) {
    const std::uint64_t types = reduce::element_count;
    if (kind == 0 || kind > types * reduce::operation_count) return {};
    return fmt::format(", {} of {}", name(static_cast<reduce::operation>((kind - 1) / types)),
                       name(static_cast<reduce::element>((kind - 1) % types)));
}

}  // namespace

// The hash includes the segmentation, because that depends on limits that must be the same on all
// ranks.
call_signature::call_signature(const call& args, const stage_plan& plan, rank_t ranks) noexcept {
    const bool is_barrier = args.kind == collective::barrier;
    const std::uint64_t root = traits_of(args.kind).has_root() ? args.root : 0;
    const std::uint64_t element = is_barrier ? 0 : args.element;
    const std::uint64_t kind = args.op != nullptr ? args.op->kind() : 0;
    count_ = is_barrier ? 0 : args.count;
    if (args.counts != nullptr)
        count_ = std::accumulate(args.counts, args.counts + ranks, std::uint64_t{0});
    rest_ = (element & 0xffffffff) | root << 32 | kind << 48;
    std::uint64_t hash = mix(static_cast<std::uint64_t>(args.kind) + 1, count_);
    for (rank_t rank = 0; args.counts != nullptr && rank < ranks; ++rank)
        hash = mix(hash, args.counts[rank]);
    for (const std::uint64_t each : {rest_, plan.segments, std::uint64_t{plan.bytes}})
        hash = mix(hash, each);
    hash = mix(hash, plan.work_stages);
    entry_ = hash << 24 | static_cast<std::uint64_t>(args.kind) << 16;
}

std::string call_signature::text() const {
    const std::uint64_t root = rest_ >> 32 & 0xffff;
    std::string result = fmt::format("{} of {} elements of {} bytes{}", text(entry_), count_,
                                     rest_ & 0xffffffff, reducer_text(rest_ >> 48));
    if (traits_of(static_cast<collective>(entry_ >> 16 & 0xff)).has_root())
        result += fmt::format(", root {}", root);
    return result;
}

std::string call_signature::text(std::uint64_t entry) {
    const std::uint64_t type = entry >> 16 & 0xff;
    return type < schedule::collective_count ? name(static_cast<collective>(type)) : "nonsense";
}

operation::operation(engine& engine) : engine_(engine), memory_(engine.size()) {}

// Checks that all blocks together are addressable.
ucs_status_t operation::check() const noexcept {
    const rank_t ranks = engine_.size();
    if (call_.root >= ranks) return UCS_ERR_INVALID_PARAM;
    if (call_.element == 0) return UCS_ERR_OUT_OF_RANGE;
    const std::uint64_t max_elements = std::numeric_limits<std::size_t>::max() / 2 / call_.element;
    if (!traits_of(call_.kind).has_counts)
        return call_.count > max_elements / ranks ? UCS_ERR_OUT_OF_RANGE : UCS_OK;
    const bool has_offsets = call_.kind == schedule::collective::allgatherv;
    if (call_.counts == nullptr || (has_offsets && call_.offsets == nullptr))
        return UCS_ERR_INVALID_PARAM;
    std::uint64_t left = max_elements;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        if (call_.counts[rank] > left) return UCS_ERR_OUT_OF_RANGE;
        left -= call_.counts[rank];
    }
    return UCS_OK;
}

ucs_status_t operation::init(const call& args) noexcept try {
    if (!has_patterns(args.kind)) return UCS_ERR_UNSUPPORTED;
    call_ = args;
    if (!traits_of(args.kind).has_counts) call_.counts = nullptr;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    pattern_ = nullptr;
    pattern_ = memory_.make(call_, engine_.domains(), engine_.memory().layout(), engine_.params(),
                            engine_.peers());
    if (pattern_ == nullptr) return UCS_ERR_UNSUPPORTED;
    const stage_plan& plan = pattern_->plan();
    in_mailbox_ = plan.segments == 1 && plan.work_stages == 0 &&
                  plan.bytes <= engine_.memory().layout().mailbox_bytes;
    row_ = engine_.memory().layout().row_for(plan.bytes);
    signature_.emplace(call_, plan, engine_.size());
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

std::string operation::description() const {
    const stage_plan& plan = pattern_->plan();
    if (plan.segments > 1)
        return fmt::format("{}, {} segments", pattern_->description(), plan.segments);
    const bool uses_mailbox_data = in_mailbox_ && plan.bytes != 0;
    return fmt::format("{}{}", pattern_->description(), uses_mailbox_data ? ", in mailboxes" : "");
}

void operation::start() noexcept {
    status_ = UCS_INPROGRESS;
    next_ = nullptr;
    engine_.start(*this);
}

void operation::start_failed(ucs_status_t status) noexcept {
    engine_.fail(status);
    end(status);
}

void operation::fail(ucs_status_t status) noexcept {
    if (status_ == UCS_INPROGRESS) engine_.fail(status);
}

std::vector<rank_t> operation::missing() const {
    return engine_.missing();
}

}  // namespace ucg::node
