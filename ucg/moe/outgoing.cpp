#include "ucg/moe/outgoing.hpp"

#include <algorithm>
#include <numeric>

namespace ucg::moe {
namespace {

// Calls once(node) for each node of the ranks that experts lie on, and each(rank) for the ranks.
template<class Once, class Each>
void for_each_target(const team& of, std::span<const expert_t> experts,
                     std::vector<std::uint32_t>& marks, std::uint32_t mark, Once once, Each each) {
    for_each_rank(of, experts, [&](rank_t rank) {
        const rank_t node = of.node_of(rank);
        if (marks[node] != mark) {
            marks[node] = mark;
            once(node);
        }
        each(rank);
    });
}

}  // namespace

outgoing outgoing::make(const team& of, const choices& chosen, const settings& by) {
    outgoing made;
    made.ranges = channel_ranges(chosen.tokens(), by.channels, by.shortest);
    made.count(of, chosen, by.channels);
    made.choose_routes(of, by);
    made.list(of, chosen, by.channels);
    return made;
}

void outgoing::count(const team& of, const choices& chosen, std::uint32_t channels) {
    to_node.resize(std::size_t{of.nodes()} * channels);
    to_rank.resize(std::size_t{of.ranks()} * channels);
    std::vector<std::uint32_t> marks(of.nodes());
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        const std::uint32_t channel = ranges.of(token);
        for_each_target(
            of, chosen.of(token), marks, token + 1,
            [&](rank_t node) { ++to_node[std::size_t{node} * channels + channel]; },
            [&](rank_t rank) { ++to_rank[std::size_t{rank} * channels + channel]; });
    }
}

traffic outgoing::traffic_to(const team& of, const settings& by, rank_t node) const noexcept {
    const auto sum = [&](const std::vector<std::uint32_t>& counts, std::size_t row) {
        const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(row * by.channels);
        return std::accumulate(begin, begin + by.channels, std::uint64_t{0});
    };
    traffic to{sum(to_node, node)};
    to.targets = 0;
    for (const rank_t rank : of.on(node)) {
        const std::uint64_t copies = sum(to_rank, rank);
        to.copies += copies;
        to.targets += copies != 0 ? 1U : 0U;
    }
    to.ranks_here = static_cast<std::uint32_t>(of.on(of.node()).size());
    to.messages = 0;
    for (std::uint32_t channel = 0; channel < by.channels; ++channel)
        to.messages += to_node[std::size_t{node} * by.channels + channel] != 0 ? 1U : 0U;
    to.token_bytes = by.token_bytes;
    return to;
}

void outgoing::choose_routes(const team& of, const settings& by) {
    relayed.resize(of.nodes());
    for (rank_t node = 0; node < of.nodes(); ++node) {
        if (node == of.node() || of.on(node).size() < 2 || by.how == route::direct) continue;
        const traffic to = traffic_to(of, by, node);
        relayed[node] =
            by.how == route::relayed || relayed_time(to, by.costs) < direct_time(to, by.costs);
    }
}

void outgoing::list(const team& of, const choices& chosen, std::uint32_t channels) {
    for (rank_t node = 0; node < of.nodes(); ++node) {
        if (relayed[node] != 0) {
            paths.push_back({of.relay(of.self(), node), true, of.first_of(node)});
            continue;
        }
        for (const rank_t rank : of.on(node))
            paths.push_back({rank, false, rank});
    }
    std::erase_if(paths, [&](const path& each) {
        const auto begin =
            each.relayed ? to_node.begin() + std::ptrdiff_t{of.node_of(each.target)} * channels
                         : to_rank.begin() + std::ptrdiff_t{each.target} * channels;
        return std::all_of(begin, begin + channels, [](std::uint32_t n) { return n == 0; });
    });
    std::ranges::sort(paths, {}, &path::order);
    std::vector<std::uint32_t> by_rank(of.ranks()), by_node(of.nodes());
    for (std::uint32_t i = 0; i < paths.size(); ++i)
        (paths[i].relayed ? by_node[of.node_of(paths[i].target)] : by_rank[paths[i].target]) = i;

    std::vector<std::uint32_t> marks(of.nodes());
    const auto pass = [&](std::uint32_t first_mark, auto found) {
        for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
            for_each_target(
                of, chosen.of(token), marks, first_mark + token,
                [&](rank_t node) {
                    if (relayed[node] != 0) found(by_node[node], token);
                },
                [&](rank_t rank) {
                    if (relayed[of.node_of(rank)] == 0) found(by_rank[rank], token);
                });
        }
    };
    tokens.resize(paths.size(), channels);
    pass(1, [&](std::uint32_t i, std::uint32_t token) { tokens.count(i, ranges.of(token)); });
    tokens.open();
    pass(1 + chosen.tokens(),
         [&](std::uint32_t i, std::uint32_t token) { tokens.add(i, ranges.of(token), token); });
    tokens.close();
}

}  // namespace ucg::moe
