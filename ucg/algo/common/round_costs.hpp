// Predicts the time of rounds of messages, for ranks that share nodes and share the ports of nodes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// The links between the ranks of a group. For large groups it looks only at a sample of the nodes
// (the first, the last and some between), so that the time of a prediction does not grow with the
// group. Value type; the caller keeps `params` and `link` alive.
class link_model {
public:
    link_model(const shape& params, const link_cost& link) noexcept;

    [[nodiscard]] bool is_between(rank_t one, rank_t other) const noexcept {
        return params_.node_placement == nullptr
                   ? one != other
                   : params_.node_placement->node_of(one) != params_.node_placement->node_of(other);
    }

    // Time of a single message, time that it occupies a port, and processor time of its sender.
    [[nodiscard]] double message(bool between, double bytes) const noexcept {
        return (between ? link_.latency : link_.inside.latency) + wire(between, bytes);
    }
    [[nodiscard]] double wire(bool between, double bytes) const noexcept {
        return between ? std::max(bytes * link_.per_byte, link_.gap)
                       : std::max(bytes * link_.inside.per_byte, link_.inside.gap);
    }
    [[nodiscard]] double per_message(bool between) const noexcept {
        return between ? link_.per_message : link_.inside.per_message;
    }

    // `partner` returns the target of each rank's message, or `none`. `most` is the maximum, over
    // nodes, of messages that leave a node; `share` is the fraction of messages between nodes.
    static constexpr rank_t none = ~rank_t{0};
    struct crossing {
        double most = 0;
        double share = 0;
    };
    template<class Partner>
    [[nodiscard]] crossing cross(Partner partner) const noexcept {
        crossing found;
        double all = 0;
        double left = 0;
        for_each_node([&](auto ranks) {
            double leaving = 0;
            for (const rank_t rank : ranks) {
                const rank_t to = partner(rank);
                if (to == none) continue;
                ++all;
                if (is_between(rank, to)) ++leaving;
            }
            found.most = std::max(found.most, leaving * params_.sharing);
            left += leaving;
        });
        found.share = all > 0 ? left / all : 0;
        return found;
    }

    // The maximum, over nodes, of messages that leave a node; `count(rank)` of them are of one
    // rank.
    template<class Count>
    [[nodiscard]] double busiest(Count count) const noexcept {
        double most = 0;
        for_each_node([&](auto ranks) {
            double leaving = 0;
            for (const rank_t rank : ranks)
                leaving += count(rank);
            most = std::max(most, leaving * params_.sharing);
        });
        return most;
    }
    // The maximum of length(rank) over the sampled ranks.
    template<class Length>
    [[nodiscard]] double longest(Length length) const noexcept {
        double most = 0;
        for_each_node([&](auto ranks) {
            for (const rank_t rank : ranks)
                most = std::max(most, length(rank));
        });
        return most;
    }

private:
    template<class Visit>
    void for_each_node(Visit visit) const noexcept {
        for (rank_t i = 0; i < sampled_nodes_; ++i) {
            const rank_t node =
                sampled_nodes_ == nodes_
                    ? i
                    : static_cast<rank_t>(std::uint64_t{i} * (nodes_ - 1) / (sampled_nodes_ - 1));
            if (params_.node_placement != nullptr)
                visit(params_.node_placement->ranks_on(node));
            else
                visit(std::array<rank_t, 1>{node});
        }
    }

    const shape& params_;
    const link_cost& link_;
    rank_t nodes_;
    rank_t sampled_nodes_;  // number of nodes in the sample
};

// Adds up the time of rounds that all ranks do one after the other. Ranks that share a port use it
// one by one, so the next round of the first ranks overlaps with this round of the last ranks. The
// total is therefore limited by the longest chain of one rank or by the port.
class round_costs {
public:
    round_costs(const shape& params, const link_cost& link) noexcept
        : size_(params.ranks), links_(params, link) {}

    // Each rank sends `bytes` to rank + distance, receives as much, and then works for `work`
    // seconds.
    void shift(rank_t distance, double bytes, double work = 0) noexcept;
    // Each remaining rank of a folding exchanges with the rank whose folded number differs in the
    // bit `distance`.
    void swap(rank_t distance, double bytes, double work = 0) noexcept;
    // One message for each pair of a folding.
    void fold(double bytes, double work = 0) noexcept;
    // `steps` steps around a ring.
    void ring(rank_t steps, double bytes, double work = 0) noexcept;

    void add(double seconds) noexcept { inside_ += seconds; }

    [[nodiscard]] double total() const noexcept {
        const double slow = std::min(mixed_, std::ceil(slow_));
        const double mixed = mixed_ > 0 ? slow / mixed_ * slower_by_ : 0;
        return inside_ + std::max(chain_ + mixed + skew_, port_ + tail_);
    }

private:
    void pass(const link_model::crossing& crossing, double bytes, double work) noexcept;

    rank_t size_;
    link_model links_;
    double inside_ = 0;
    double chain_ = 0;  // between nodes
    double skew_ = 0;   // delay of the last one of the ranks that share a port
    double port_ = 0;
    double tail_ = 0;  // time after the last message has passed the port
    // Rounds in which some messages stay inside nodes. No rank has the slow message in each of
    // them.
    double mixed_ = 0;      // number of such rounds
    double slow_ = 0;       // expected number of slow messages of a rank in them
    double slower_by_ = 0;  // sum over these rounds of the extra time of the slow message
};

// Returns the longest time from a rank to the root of a tree. `parent` returns the parent of a
// rank, and `none` for the root; `hop(rank, parent)` returns the seconds between them.
template<class Parent, class Hop>
[[nodiscard]] double depth_cost(const link_model& links, Parent parent, Hop hop) noexcept {
    return links.longest([&](rank_t rank) {
        double sum = 0;
        for (rank_t up = parent(rank); up != link_model::none; rank = up, up = parent(rank))
            sum += hop(rank, up);
        return sum;
    });
}

// Returns the time of a binomial tree with root 0 in which each rank exchanges one message of
// bytes(distance) bytes with its parent. The parent works for `work` seconds for each byte and
// processes the messages of its children one by one.
template<class Bytes>
[[nodiscard]] double binomial_cost(const shape& params, const link_cost& link, Bytes bytes,
                                   double work) noexcept {
    const link_model links(params, link);
    const auto sum_to_root = [&](rank_t rank) {
        double sum = 0;
        while (rank != 0) {
            const rank_t distance = rank & (~rank + 1);
            const rank_t up = rank - distance;
            const double size = bytes(distance);
            const bool between = links.is_between(rank, up);
            sum += links.message(between, size) + work * size;
            // The parent also processes the messages of larger subtrees. Messages inside a node use
            // another port than messages between nodes.
            const rank_t reach = up == 0 ? std::bit_ceil(params.ranks) : up & (~up + 1);
            for (rank_t other = distance * 2; other < reach && up + other < params.ranks;
                 other *= 2)
                sum += work * bytes(other) + (links.is_between(up, up + other) == between
                                                  ? links.wire(between, bytes(other))
                                                  : 0);
            rank = up;
        }
        return sum;
    };
    // The deepest ranks are those with all lower bits set.
    double longest = sum_to_root(params.ranks - 1);
    for (rank_t bit = 1; bit < params.ranks; bit *= 2)
        if (((params.ranks - 1) & bit) != 0)
            longest =
                std::max(longest, sum_to_root(((params.ranks - 1) & ~(2 * bit - 1)) | (bit - 1)));
    const auto through_port = [&](rank_t rank) {
        const rank_t reach = rank == 0 ? std::bit_ceil(params.ranks) : rank & (~rank + 1);
        double sum = 0;
        for (rank_t other = 1; other < reach && rank + other < params.ranks; other *= 2)
            if (links.is_between(rank, rank + other)) sum += links.wire(true, bytes(other));
        return sum;
    };
    return std::max(longest, links.busiest(through_port));
}

}  // namespace ucg::algo
