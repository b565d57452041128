#include "ucg/moe/plan/matrices.hpp"

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

// [source nodes, channels] tokens for this node whose relay is this rank
std::vector<std::uint32_t> by_node(const plan& plan) {
    const team& group = *plan.group;
    const std::uint32_t channels = plan.options.channels;
    std::vector<std::uint32_t> made(std::size_t{group.nodes()} * channels);
    for (std::size_t s = 0; s < plan.relays.streams.size(); ++s) {
        const std::size_t node = group.node_of(plan.relays.streams[s].source);
        for (std::uint32_t c = 0; c < channels; ++c)
            made[node * channels + c] += plan.relays.counts[s * channels + c];
    }
    return made;
}

// Returns, for each row of `channels` counts, the sum of all counts up to the end of the row.
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

// [tokens, columns] index of a token among the tokens of its channel that have a rank in the same
// column; -1: none of the token's ranks is in the column.
template<class Column>
table places(const plan& plan, std::size_t columns, Column column_of) {
    table made(plan.chosen.tokens() * columns, -1);
    std::vector<std::int32_t> next(columns);
    for (std::uint32_t token = 0; token < plan.chosen.tokens(); ++token) {
        const bool is_first = token == plan.sends.ranges.begin(plan.sends.ranges.channel_of(token));
        if (is_first) std::ranges::fill(next, 0);
        for_each_rank(*plan.group, plan.chosen.experts_of(token), [&](rank_t rank) {
            const std::size_t column = column_of(rank);
            std::int32_t& place = made[token * columns + column];
            if (place < 0) place = next[column]++;
        });
    }
    return made;
}

}  // namespace

table sent_to_node(const plan& plan) {
    return sums(plan.sends.to_node, plan.options.channels);
}

table sent_to_rank(const plan& plan) {
    return sums(plan.sends.to_rank, plan.options.channels);
}

table relayed(const plan& plan) {
    return totals(by_node(plan), plan.options.channels);
}

table relayed_by_channel(const plan& plan) {
    return sums(by_node(plan), plan.options.channels);
}

table received(const plan& plan) {
    return totals(plan.receives.counts, plan.options.channels);
}

table received_begin(const plan& plan) {
    return {plan.receives.begins.begin(), plan.receives.begins.end()};
}

table send_place(const plan& plan) {
    const team& group = *plan.group;
    return places(plan, group.nodes(), [&](rank_t rank) { return group.node_of(rank); });
}

table relay_place(const plan& plan) {
    const team& group = *plan.group;
    const std::uint32_t channels = plan.options.channels;
    const std::size_t local_ranks = group.ranks_on(group.node()).size();
    const std::vector<std::uint32_t>& counts = plan.relays.counts;
    table made(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * local_ranks, -1);
    std::size_t first = 0;
    for (std::size_t s = 0; s < plan.relays.streams.size(); ++s) {
        for (std::uint32_t c = 0; c < channels; first += counts[s * channels + c++]) {
            for (rank_t rank_index = 0; rank_index < local_ranks; ++rank_index) {
                std::int32_t place = 0;
                for (const std::uint32_t row :
                     plan.relays.forwards.list(plan.relays.forward(group, s, rank_index), c))
                    made[(first + row) * local_ranks + rank_index] = place++;
            }
        }
    }
    return made;
}

table rank_place(const plan& plan) {
    return places(plan, plan.group->ranks(), [](rank_t rank) { return rank; });
}

table received_before(const plan& plan) {
    const std::size_t channels = plan.options.channels;
    table made = received_begin(plan);
    for (std::size_t first = 0; first < made.size(); first += channels)
        for (std::size_t c = channels; c-- > 0;)
            made[first + c] -= made[first];
    return made;
}

table received_by_all(const plan& plan) {
    const std::size_t ranks = plan.group->ranks();
    table made(plan.all_counts.counts.begin(), plan.all_counts.counts.end());
    for (std::size_t i = ranks; i < made.size(); ++i)
        made[i] += made[i - ranks];
    return made;
}

table source_token(const plan& plan) {
    table made;
    for (const receive_plan::origin& each : plan.receives.origins)
        made.push_back(static_cast<std::int32_t>(each.token));
    return made;
}

table source_node(const plan& plan) {
    table made;
    for (const receive_plan::origin& each : plan.receives.origins)
        made.push_back(static_cast<std::int32_t>(plan.group->node_of(each.source)));
    return made;
}

table holders(const plan& plan) {
    return {plan.receives.holders.begin(), plan.receives.holders.end()};
}

table per_expert(const plan& plan, std::uint32_t alignment) {
    table made;
    for (const std::uint32_t count : plan.receives.per_expert)
        made.push_back(static_cast<std::int32_t>(rounded_up(count, alignment)));
    return made;
}

std::uint64_t max_rows(const team& group, std::uint32_t k, std::uint64_t max_tokens,
                       std::uint32_t alignment) noexcept {
    std::uint64_t living = 0;
    for (rank_t node = 0; node < group.nodes(); ++node)
        living += group.ranks_on(node).size();
    if (alignment == 0) return living * max_tokens;
    const std::uint64_t choices = living * max_tokens * k;
    return rounded_up(choices + std::uint64_t{group.local_experts()} * (alignment - 1), alignment);
}

}  // namespace ucg::moe
