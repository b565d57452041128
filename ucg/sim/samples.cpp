#include "ucg/sim/samples.hpp"

#include <fmt/format.h>

#include "ucs/random/seeded.hpp"

namespace ucg::sim {
namespace {

using schedule::collective;

samples::element factor(std::uint64_t index) noexcept {
    return static_cast<samples::element>(index * 2654435761U + 0x9e3779b9U) | 1U;
}

}  // namespace

samples::samples(collective kind, rank_t ranks, rank_t root, std::uint64_t count)
    : kind_(kind),
      ranks_(ranks),
      root_(root),
      count_(kind == collective::barrier ? 0 : count),
      reducer_(reduce::element::uint32, reduce::operation::sum, ranks),
      sums_(ranks + 1),
      counts_(ranks, count),
      offsets_(ranks),
      inputs_(ranks),
      outputs_(ranks) {
    ucs::sys::random weights(ranks);
    for (rank_t r = 0; r < ranks; ++r) {
        sums_[r + 1] = sums_[r] + static_cast<element>(weights.next());
        offsets_[r] = r * count;
    }
    for (rank_t r = 0; r < ranks; ++r) {
        const reference::layout described = layout_of(r);
        inputs_[r].resize(described.source_elements);
        outputs_[r].resize(described.target_elements);
        std::vector<element>& input = described.input_in_target ? outputs_[r] : inputs_[r];
        for (const reference::block& each : described.given)
            for (std::uint64_t i = 0; i < each.count; ++i)
                input[each.offset + i] = sum(r, r + 1, each.target * count_ + i);
    }
}

reference::layout samples::layout_of(rank_t rank) const {
    return reference::make_layout({kind_, ranks_, count_, root_, false, {}, 0}, rank);
}

samples::element samples::sum(rank_t first, rank_t end, std::uint64_t index) const noexcept {
    return (sums_[end] - sums_[first]) * factor(index);
}

schedule::call samples::call_of(rank_t rank) noexcept {
    schedule::call made;
    made.kind = kind_;
    made.from = inputs_[rank].data();
    made.into = outputs_[rank].data();
    made.count = count_;
    made.element = sizeof(element);
    made.op = &reducer_;
    made.root = root_;
    if (traits_of(kind_).has_counts) {
        made.counts = made.out_counts = counts_.data();
        made.offsets = made.out_offsets = offsets_.data();
    }
    return made;
}

samples::element samples::value(const reference::layout& of_rank, const reference::block& part,
                                std::uint64_t index) const noexcept {
    if (of_rank.reduces) return sum(0, of_rank.reduced, part.first + index);
    return sum(part.source, part.source + 1, part.target * count_ + index);
}

std::string samples::wrong(rank_t rank) const {
    const reference::layout described = layout_of(rank);
    for (const reference::block& each : described.got) {
        for (std::uint64_t i = 0; i < each.count; ++i) {
            const element got = outputs_[rank][each.offset + i];
            const element right = value(described, each, i);
            if (got != right) {
                return fmt::format("rank {}, element {}: {:#x} instead of {:#x}", rank,
                                   each.offset + i, got, right);
            }
        }
    }
    return {};
}

}  // namespace ucg::sim
