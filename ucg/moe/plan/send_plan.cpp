#include <algorithm>
#include <numeric>

#include "ucg/moe/plan/plan.hpp"

namespace ucg::moe {
namespace {

// Calls each(rank) for each rank that has one of the experts, and once(node) for each node of these
// ranks.
template<class Once, class Each>
void for_each_target(const team& group, std::span<const expert_t> experts,
                     std::vector<std::uint32_t>& marks, std::uint32_t mark, Once once, Each each) {
    for_each_rank(group, experts, [&](rank_t rank) {
        const rank_t node = group.node_of(rank);
        if (marks[node] != mark) {
            marks[node] = mark;
            once(node);
        }
        each(rank);
    });
}

}  // namespace

send_plan send_plan::make(const team& group, const choices& chosen, const settings& options) {
    send_plan made;
    made.ranges = channel_ranges(chosen.tokens(), options.channels, options.min_channel_tokens);
    made.count(group, chosen, options.channels);
    made.choose_routes(group, options);
    made.list(group, chosen, options.channels);
    return made;
}

void send_plan::count(const team& group, const choices& chosen, std::uint32_t channels) {
    to_node.resize(std::size_t{group.nodes()} * channels);
    to_rank.resize(std::size_t{group.ranks()} * channels);
    std::vector<std::uint32_t> marks(group.nodes());
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        const std::uint32_t channel = ranges.channel_of(token);
        for_each_target(
            group, chosen.experts_of(token), marks, token + 1,
            [&](rank_t node) { ++to_node[std::size_t{node} * channels + channel]; },
            [&](rank_t rank) { ++to_rank[std::size_t{rank} * channels + channel]; });
    }
}

traffic send_plan::traffic_to(const team& group, const settings& options,
                              rank_t node) const noexcept {
    const auto sum = [&](const std::vector<std::uint32_t>& counts, std::size_t row) {
        const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(row * options.channels);
        return std::accumulate(begin, begin + options.channels, std::uint64_t{0});
    };
    traffic to{sum(to_node, node)};
    to.targets = 0;
    for (const rank_t rank : group.ranks_on(node)) {
        const std::uint64_t copies = sum(to_rank, rank);
        to.copies += copies;
        to.targets += copies != 0 ? 1U : 0U;
    }
    to.ranks_here = static_cast<std::uint32_t>(group.ranks_on(group.node()).size());
    to.messages = 0;
    for (std::uint32_t channel = 0; channel < options.channels; ++channel)
        to.messages += to_node[std::size_t{node} * options.channels + channel] != 0 ? 1U : 0U;
    to.token_bytes = options.token_bytes;
    return to;
}

void send_plan::choose_routes(const team& group, const settings& options) {
    relayed.resize(group.nodes());
    for (rank_t node = 0; node < group.nodes(); ++node) {
        if (node == group.node() || group.ranks_on(node).size() < 2 ||
            options.routing == route::direct)
            continue;
        const traffic to = traffic_to(group, options, node);
        relayed[node] = options.routing == route::relayed ||
                        relayed_time(to, options.costs) < direct_time(to, options.costs);
    }
}

void send_plan::list(const team& group, const choices& chosen, std::uint32_t channels) {
    for (rank_t node = 0; node < group.nodes(); ++node) {
        if (relayed[node] != 0) {
            paths.push_back({group.relay(group.self(), node), true, group.first_rank_on(node)});
            continue;
        }
        for (const rank_t rank : group.ranks_on(node))
            paths.push_back({rank, false, rank});
    }
    std::erase_if(paths, [&](const path& each) {
        const auto begin =
            each.relayed ? to_node.begin() + std::ptrdiff_t{group.node_of(each.target)} * channels
                         : to_rank.begin() + std::ptrdiff_t{each.target} * channels;
        return std::all_of(begin, begin + channels, [](std::uint32_t n) { return n == 0; });
    });
    std::ranges::sort(paths, {}, &path::order);
    std::vector<std::uint32_t> by_rank(group.ranks()), by_node(group.nodes());
    for (std::uint32_t i = 0; i < paths.size(); ++i)
        (paths[i].relayed ? by_node[group.node_of(paths[i].target)] : by_rank[paths[i].target]) = i;

    std::vector<std::uint32_t> marks(group.nodes());
    const auto pass = [&](std::uint32_t first_mark, auto found) {
        for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
            for_each_target(
                group, chosen.experts_of(token), marks, first_mark + token,
                [&](rank_t node) {
                    if (relayed[node] != 0) found(by_node[node], token);
                },
                [&](rank_t rank) {
                    if (relayed[group.node_of(rank)] == 0) found(by_rank[rank], token);
                });
        }
    };
    tokens.resize(paths.size(), channels);
    pass(1,
         [&](std::uint32_t i, std::uint32_t token) { tokens.count(i, ranges.channel_of(token)); });
    tokens.open();
    pass(1 + chosen.tokens(), [&](std::uint32_t i, std::uint32_t token) {
        tokens.add(i, ranges.channel_of(token), token);
    });
    tokens.close();
}

}  // namespace ucg::moe
