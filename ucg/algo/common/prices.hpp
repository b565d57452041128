// What rounds of messages take where ranks share nodes, and nodes' ranks a port.
#pragma once

#include <algorithm>
#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// A few nodes stand for all: the first, the last and some between, so that predicting takes no
// longer for thousands of ranks. Value type; borrows the shape and the cost.
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
            const rank_t node = nodes_[i];
            if (of_.where != nullptr)
                visit(of_.where->on(node));
            else
                visit(std::array<rank_t, 1>{node});
        }
    }

    static constexpr rank_t most_nodes = 6;

    const shape& of_;
    const link_cost& link_;
    std::array<rank_t, most_nodes> nodes_{};
    rank_t looked_at_ = 0;
};

// Adds up rounds that all ranks do one after the other. Ranks that share a port come through it one
// by one: then the next round of the first ones overlaps with this one of the last, so what counts
// is either the longest chain of one rank or the port.
class rounds {
public:
    rounds(const shape& of, const link_cost& link) noexcept
        : size_(of.ranks), near_(of, link) {}

    // Every rank sends `bytes` to the rank so far behind it, and works after it received as much.
    void shift(rank_t distance, double bytes, double work = 0) noexcept;
    // Every remaining rank of a folding exchanges with the one whose number differs in that bit.
    void swap(rank_t distance, double bytes, double work = 0) noexcept;
    // The pairs of a folding: one message.
    void fold(double bytes, double work = 0) noexcept;
    // The edges of that length in a binomial tree from rank 0.
    void tree(rank_t distance, double bytes, double work = 0) noexcept;
    // So many steps around a ring.
    void ring(rank_t steps, double bytes, double work = 0) noexcept;

    void add(double seconds) noexcept { inside_ += seconds; }

    [[nodiscard]] double total() const noexcept {
        return inside_ + std::max(chain_ + skew_, port_ + tail_);
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
};

// A pipeline down a tree: the time to the deepest rank, by `parent` of each rank, none of the root.
template<class Parent>
[[nodiscard]] double depth_cost(const neighbourhood& near, Parent parent, double inside,
                                double between) noexcept {
    return near.longest([&](rank_t rank) {
        double sum = 0;
        for (rank_t up = parent(rank); up != neighbourhood::none; rank = up, up = parent(rank))
            sum += near.is_between(rank, up) ? between : inside;
        return sum;
    });
}

}  // namespace ucg::algo
