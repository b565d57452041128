#include "ucg/node/engine/call_signature.hpp"

#include <fmt/format.h>

#include <numeric>

namespace ucg::node {
namespace {

using schedule::collective;

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

}  // namespace ucg::node
