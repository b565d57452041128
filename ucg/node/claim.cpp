#include "ucg/node/claim.hpp"

#include <fmt/format.h>

#include <numeric>

namespace ucg::node {
namespace {

using schedule::collective;

std::uint64_t mix(std::uint64_t into, std::uint64_t value) noexcept {
    into = (into ^ value) * 0x9e3779b97f4a7c15;
    return into ^ into >> 29;
}

std::string of_reducer(std::uint64_t kind) {
    const std::uint64_t types = reduce::element_count;
    if (kind == 0 || kind > types * reduce::operation_count) return {};
    return fmt::format(", {} of {}", name(static_cast<reduce::operation>((kind - 1) / types)),
                       name(static_cast<reduce::element>((kind - 1) % types)));
}

}  // namespace

// How it is cut is in the hash as well: that depends on limits, which must be the same everywhere.
claim::claim(const call& what, const flow& how, rank_t ranks) noexcept {
    const bool meets = what.what == collective::barrier;
    const std::uint64_t root = has_root(what.what) ? what.root : 0;
    const std::uint64_t element = meets ? 0 : what.element;
    const std::uint64_t kind = what.how != nullptr ? what.how->kind() : 0;
    count_ = meets ? 0 : what.count;
    if (what.counts != nullptr)
        count_ = std::accumulate(what.counts, what.counts + ranks, std::uint64_t{0});
    rest_ = (element & 0xffffffff) | root << 32 | kind << 48;
    std::uint64_t hash = mix(static_cast<std::uint64_t>(what.what) + 1, count_);
    for (rank_t rank = 0; what.counts != nullptr && rank < ranks; ++rank)
        hash = mix(hash, what.counts[rank]);
    for (const std::uint64_t each : {rest_, how.segments, std::uint64_t{how.bytes}})
        hash = mix(hash, each);
    hash = mix(hash, how.works);
    entry_ = hash << 24 | static_cast<std::uint64_t>(what.what) << 16;
}

std::string claim::text() const {
    const std::uint64_t root = rest_ >> 32 & 0xffff;
    std::string made = fmt::format("{} of {} elements of {} bytes{}", text(entry_), count_,
                                   rest_ & 0xffffffff, of_reducer(rest_ >> 48));
    if (has_root(static_cast<collective>(entry_ >> 16 & 0xff)))
        made += fmt::format(", root {}", root);
    return made;
}

std::string claim::text(std::uint64_t entry) {
    const std::uint64_t what = entry >> 16 & 0xff;
    return what < schedule::collective_count ? name(static_cast<collective>(what)) : "nonsense";
}

}  // namespace ucg::node
