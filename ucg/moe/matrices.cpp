#include "ucg/moe/matrices.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace ucg::moe {
namespace {

// Sums along each row.
table sums(const std::vector<std::uint32_t>& counts, std::uint32_t channels) {
    table made(counts.begin(), counts.end());
    for (std::size_t i = 0; i < made.size(); ++i)
        if (i % channels != 0) made[i] += made[i - 1];
    return made;
}

// [nodes, channels] tokens for this node that this rank is the relay of, in each channel
std::vector<std::uint32_t> by_node(const plan& what) {
    const team& of = *what.of;
    const std::uint32_t channels = what.by.channels;
    std::vector<std::uint32_t> made(std::size_t{of.nodes()} * channels);
    for (std::size_t s = 0; s < what.through.streams.size(); ++s) {
        const std::size_t node = of.node_of(what.through.streams[s].source);
        for (std::uint32_t c = 0; c < channels; ++c)
            made[node * channels + c] += what.through.counts[s * channels + c];
    }
    return made;
}

// Sums over rows of so many counts, each row with those before it.
table totals(std::span<const std::uint32_t> counts, std::uint32_t channels) {
    table made(counts.size() / channels);
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        sum += static_cast<std::int32_t>(counts[i]);
        made[i / channels] = sum;
    }
    return made;
}

std::uint64_t rounded_up(std::uint64_t count, std::uint64_t to) noexcept {
    return (count + to - 1) / to * to;
}

// [tokens, columns] place of a token among those of its channel whose ranks are of the same column;
// -1: none of its ranks is.
template<class Column>
table places(const plan& what, std::size_t columns, Column column_of) {
    table made(what.chosen.tokens() * columns, -1);
    std::vector<std::int32_t> next(columns);
    for (std::uint32_t token = 0; token < what.chosen.tokens(); ++token) {
        const bool is_first = token == what.out.ranges.begin(what.out.ranges.of(token));
        if (is_first) std::ranges::fill(next, 0);
        for_each_rank(*what.of, what.chosen.of(token), [&](rank_t rank) {
            const std::size_t column = column_of(rank);
            std::int32_t& place = made[token * columns + column];
            if (place < 0) place = next[column]++;
        });
    }
    return made;
}

}  // namespace

table sent_to_node(const plan& what) {
    return sums(what.out.to_node, what.by.channels);
}

table sent_to_rank(const plan& what) {
    return sums(what.out.to_rank, what.by.channels);
}

table relayed(const plan& what) {
    return totals(by_node(what), what.by.channels);
}

table relayed_by_channel(const plan& what) {
    return sums(by_node(what), what.by.channels);
}

table received(const plan& what) {
    return totals(what.in.counts, what.by.channels);
}

table received_begin(const plan& what) {
    return {what.in.begins.begin(), what.in.begins.end()};
}

table send_place(const plan& what) {
    const team& of = *what.of;
    return places(what, of.nodes(), [&](rank_t rank) { return of.node_of(rank); });
}

table relay_place(const plan& what) {
    const team& of = *what.of;
    const std::uint32_t channels = what.by.channels;
    const std::size_t here = of.on(of.node()).size();
    const std::vector<std::uint32_t>& counts = what.through.counts;
    table made(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * here, -1);
    std::size_t first = 0;
    for (std::size_t s = 0; s < what.through.streams.size(); ++s) {
        for (std::uint32_t c = 0; c < channels; first += counts[s * channels + c++]) {
            for (rank_t index = 0; index < here; ++index) {
                std::int32_t place = 0;
                for (const std::uint32_t at :
                     what.through.forwards.of(what.through.forward(of, s, index), c))
                    made[(first + at) * here + index] = place++;
            }
        }
    }
    return made;
}

table rank_place(const plan& what) {
    return places(what, what.of->ranks(), [](rank_t rank) { return rank; });
}

table received_before(const plan& what) {
    const std::size_t channels = what.by.channels;
    table made = received_begin(what);
    for (std::size_t first = 0; first < made.size(); first += channels)
        for (std::size_t c = channels; c-- > 0;)
            made[first + c] -= made[first];
    return made;
}

table received_by_all(const plan& what) {
    const std::size_t ranks = what.of->ranks();
    table made(what.among.counts.begin(), what.among.counts.end());
    for (std::size_t i = ranks; i < made.size(); ++i)
        made[i] += made[i - ranks];
    return made;
}

table source_token(const plan& what) {
    table made;
    for (const arriving::origin& each : what.in.origins)
        made.push_back(static_cast<std::int32_t>(each.token));
    return made;
}

table source_node(const plan& what) {
    table made;
    for (const arriving::origin& each : what.in.origins)
        made.push_back(static_cast<std::int32_t>(what.of->node_of(each.source)));
    return made;
}

table holders(const plan& what) {
    return {what.in.holders.begin(), what.in.holders.end()};
}

table per_expert(const plan& what, std::uint32_t alignment) {
    table made;
    for (const std::uint32_t count : what.in.per_expert)
        made.push_back(static_cast<std::int32_t>(rounded_up(count, alignment)));
    return made;
}

std::uint64_t most_rows(const team& of, std::uint32_t k, std::uint64_t most_tokens,
                        std::uint32_t alignment) noexcept {
    std::uint64_t living = 0;
    for (rank_t node = 0; node < of.nodes(); ++node)
        living += of.on(node).size();
    if (alignment == 0) return living * most_tokens;
    const std::uint64_t choices = living * most_tokens * k;
    return rounded_up(choices + std::uint64_t{of.local_experts()} * (alignment - 1), alignment);
}

}  // namespace ucg::moe
