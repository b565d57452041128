// What rounds of messages take where ranks share nodes, and nodes' ranks a port.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// Of large groups some nodes stand for all, the first, the last and some between, so that
// predicting takes no longer for thousands of ranks. Value type; borrows the shape and the cost.
class neighbourhood {
public:
    neighbourhood(const shape& of, const link_cost& link) noexcept;

    [[nodiscard]] bool is_between(rank_t one, rank_t other) const noexcept {
        return of_.where == nullptr ? one != other
                                    : of_.where->node_of(one) != of_.where->node_of(other);
    }

    // A message of so many bytes alone, and how long it keeps a port or the sender.
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

    // Of the messages that `partner` gives for each rank (rank_t none: no message): how many leave
    // the node that most leave, and what share of all they are.
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
            double here = 0;
            for (const rank_t rank : ranks) {
                const rank_t to = partner(rank);
                if (to == none) continue;
                ++all;
                if (is_between(rank, to)) ++here;
            }
            found.most = std::max(found.most, here * of_.sharing);
            left += here;
        });
        found.share = all > 0 ? left / all : 0;
        return found;
    }

    // The same with any number of messages: `count(rank)` of those that leave its node.
    template<class Count>
    [[nodiscard]] double busiest(Count count) const noexcept {
        double most = 0;
        for_each_node([&](auto ranks) {
            double here = 0;
            for (const rank_t rank : ranks)
                here += count(rank);
            most = std::max(most, here * of_.sharing);
        });
        return most;
    }
    // The longest of what `length` gives for some ranks.
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
        for (rank_t i = 0; i < looked_at_; ++i) {
            const rank_t node =
                looked_at_ == nodes_
                    ? i
                    : static_cast<rank_t>(std::uint64_t{i} * (nodes_ - 1) / (looked_at_ - 1));
            if (of_.where != nullptr)
                visit(of_.where->on(node));
            else
                visit(std::array<rank_t, 1>{node});
        }
    }

    const shape& of_;
    const link_cost& link_;
    rank_t nodes_;
    rank_t looked_at_;  // of them
};

// Adds up rounds that all ranks do one after the other. Ranks that share a port come through it one
// by one: then the next round of the first ones overlaps with this one of the last, so what counts
// is either the longest chain of one rank or the port.
class rounds {
public:
    rounds(const shape& of, const link_cost& link) noexcept : size_(of.ranks), near_(of, link) {}

    // Every rank sends `bytes` to the rank so far behind it, and works after it received as much.
    void shift(rank_t distance, double bytes, double work = 0) noexcept;
    // Every remaining rank of a folding exchanges with the one whose number differs in that bit.
    void swap(rank_t distance, double bytes, double work = 0) noexcept;
    // The pairs of a folding: one message.
    void fold(double bytes, double work = 0) noexcept;
    // So many steps around a ring.
    void ring(rank_t steps, double bytes, double work = 0) noexcept;

    void add(double seconds) noexcept { inside_ += seconds; }

    [[nodiscard]] double total() const noexcept {
        const double slow = std::min(mixed_, std::ceil(slow_));
        const double mixed = mixed_ > 0 ? slow / mixed_ * slower_by_ : 0;
        return inside_ + std::max(chain_ + mixed + skew_, port_ + tail_);
    }

private:
    void pass(const neighbourhood::crossing& by, double bytes, double work) noexcept;

    rank_t size_;
    neighbourhood near_;
    double inside_ = 0;
    double chain_ = 0;  // between nodes
    double skew_ = 0;   // of ranks that share a port
    double port_ = 0;
    double tail_ = 0;  // after the port
    // Of rounds in which some messages stay inside: no chain has the slow one in each of them.
    double mixed_ = 0;      // rounds
    double slow_ = 0;       // of which so many are between nodes
    double slower_by_ = 0;  // in all of them
};

// The longest way from a rank to the root of a tree: `parent` of each rank, none of the root, and
// `hop(rank, parent)`, the seconds between them.
template<class Parent, class Hop>
[[nodiscard]] double depth_cost(const neighbourhood& near, Parent parent, Hop hop) noexcept {
    return near.longest([&](rank_t rank) {
        double sum = 0;
        for (rank_t up = parent(rank); up != neighbourhood::none; rank = up, up = parent(rank))
            sum += hop(rank, up);
        return sum;
    });
}

// A message to or from each parent of a binomial tree from rank 0, of the size `bytes(distance)`;
// `work` for each byte at the parent. A parent passes the messages of its children one by one.
template<class Bytes>
[[nodiscard]] double binomial_cost(const shape& of, const link_cost& link, Bytes bytes,
                                   double work) noexcept {
    const neighbourhood near(of, link);
    const auto sum_to_root = [&](rank_t rank) {
        double sum = 0;
        while (rank != 0) {
            const rank_t distance = rank & (~rank + 1);
            const rank_t up = rank - distance;
            const double size = bytes(distance);
            const bool between = near.is_between(rank, up);
            sum += near.message(between, size) + work * size;
            // Larger subtrees have their turn before, or after; inside a node by another port.
            const rank_t reach = up == 0 ? std::bit_ceil(of.ranks) : up & (~up + 1);
            for (rank_t other = distance * 2; other < reach && up + other < of.ranks; other *= 2)
                sum += work * bytes(other) + (near.is_between(up, up + other) == between
                                                  ? near.wire(between, bytes(other))
                                                  : 0);
            rank = up;
        }
        return sum;
    };
    // The deepest places are those of which all lower bits are set.
    double longest = sum_to_root(of.ranks - 1);
    for (rank_t bit = 1; bit < of.ranks; bit *= 2)
        if (((of.ranks - 1) & bit) != 0)
            longest = std::max(longest, sum_to_root(((of.ranks - 1) & ~(2 * bit - 1)) | (bit - 1)));
    const auto through_port = [&](rank_t rank) {
        const rank_t reach = rank == 0 ? std::bit_ceil(of.ranks) : rank & (~rank + 1);
        double sum = 0;
        for (rank_t other = 1; other < reach && rank + other < of.ranks; other *= 2)
            if (near.is_between(rank, rank + other)) sum += near.wire(true, bytes(other));
        return sum;
    };
    return std::max(longest, near.busiest(through_port));
}

}  // namespace ucg::algo
