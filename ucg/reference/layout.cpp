#include "ucg/reference/layout.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "ucs/random/seeded.hpp"

namespace ucg::reference {
namespace {

using schedule::collective;

// The blocks of all ranks in one buffer.
struct blocks {
    std::vector<std::uint64_t> counts, offsets;
    std::uint64_t end = 0;

    template<class Size>
    blocks(rank_t ranks, std::uint64_t gaps, const Size& size) : counts(ranks), offsets(ranks) {
        std::vector<rank_t> order(ranks);
        std::iota(order.begin(), order.end(), 0U);
        ucs::sys::random dice(gaps);
        for (std::size_t i = ranks; gaps != 0 && i > 1; --i)
            std::swap(order[i - 1], order[dice.below(i)]);
        for (const rank_t i : order) {
            counts[i] = size(i);
            offsets[i] = end + (gaps != 0 ? dice.below(3) : 0);
            end = offsets[i] + counts[i];
        }
    }
};

}  // namespace

layout make_layout(const problem& wanted, rank_t rank) {
    const schedule::traits kind = traits_of(wanted.kind);
    layout made;
    made.count = wanted.count;
    made.reduces = kind.reduces;
    made.reduced = wanted.kind == collective::scan     ? rank + 1
                   : wanted.kind == collective::exscan ? rank
                                                       : wanted.ranks;
    if (wanted.kind == collective::barrier) return made;
    const bool is_root = rank == wanted.root;
    made.in_place = wanted.in_place && kind.has_two_buffers && (!kind.has_root() || is_root);
    made.input_in_target = !kind.has_two_buffers || (made.in_place && !kind.root_gives);
    const bool gives = !kind.root_gives || is_root;
    const bool takes = (!kind.root_takes || is_root) && !(made.in_place && kind.root_gives);

    const auto size = [&](rank_t from, rank_t to) {
        return kind.has_counts && wanted.size ? wanted.size(from, to) : wanted.count;
    };
    const std::uint64_t gaps = kind.has_counts && !kind.reduces ? wanted.gaps : 0;
    const blocks sent(kind.gives_blocks ? wanted.ranks : 0, gaps * (2 * rank + 1),
                      [&](rank_t to) { return size(rank, to); });
    const blocks received(kind.takes_blocks ? wanted.ranks : 0, gaps * (2 * rank + 2),
                          [&](rank_t from) { return size(from, rank); });
    const std::uint64_t own_input = kind.gives_blocks   ? sent.end
                                    : kind.takes_blocks ? size(rank, wanted.root)
                                                        : wanted.count;
    const std::uint64_t own_output = kind.takes_blocks   ? received.end
                                     : kind.gives_blocks ? size(wanted.root, rank)
                                                         : wanted.count;
    if (kind.has_counts) {
        if (!kind.gives_blocks) made.count = own_input;
        if (!kind.takes_blocks) made.count = own_output;
        const bool has_source = kind.gives_blocks && !kind.reduces && !made.input_in_target;
        if (has_source)
            std::tie(made.source_counts, made.source_offsets) = std::tie(sent.counts, sent.offsets);
        const blocks& into = kind.reduces ? sent : received;
        std::tie(made.target_counts, made.target_offsets) = std::tie(into.counts, into.offsets);
    }

    if (gives && kind.gives_blocks && !kind.reduces) {
        const auto& offsets = made.input_in_target ? received.offsets : sent.offsets;
        for (rank_t to = 0; to < wanted.ranks; ++to)
            made.given.push_back({offsets[to], sent.counts[to], rank, to, 0});
    } else if (gives) {
        const bool at_own_block = made.input_in_target && kind.takes_blocks;
        made.given = {{at_own_block ? received.offsets[rank] : 0, own_input, rank, 0, 0}};
    }
    if (takes && kind.takes_blocks) {
        for (rank_t from = 0; from < wanted.ranks; ++from)
            made.got.push_back({received.offsets[from], received.counts[from], from,
                                kind.gives_blocks ? rank : 0, 0});
    } else if (takes && made.reduced != 0) {  // otherwise the output is undefined
        if (kind.reduces)
            made.got = {{0, own_output, 0, 0, kind.gives_blocks ? sent.offsets[rank] : 0}};
        else
            made.got = {{0, own_output, wanted.root, kind.gives_blocks ? rank : 0, 0}};
    }
    if (gives && !made.input_in_target) made.source_elements = own_input;
    if (takes) made.target_elements = own_output;
    if (kind.reduces && made.input_in_target)
        made.target_elements = std::max(own_input, own_output);
    return made;
}

}  // namespace ucg::reference
