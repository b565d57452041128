#include "ucg/algo/common/prices.hpp"

namespace ucg::algo {

neighbourhood::neighbourhood(const shape& of, const link_cost& link) noexcept
    : of_(of), link_(link) {
    const rank_t nodes = of.where != nullptr ? of.where->nodes() : of.ranks;
    looked_at_ = std::min(nodes, most_nodes);
    for (rank_t i = 0; i < looked_at_; ++i)
        nodes_[i] = looked_at_ == nodes
                        ? i
                        : static_cast<rank_t>(std::uint64_t{i} * (nodes - 1) / (looked_at_ - 1));
}

void rounds::pass(const neighbourhood::crossing& by, double bytes, double work) noexcept {
    if (by.most <= 0) {
        inside_ += near_.message(false, bytes) + work;
        return;
    }
    const double wire = near_.wire(true, bytes);
    const double alone = near_.message(true, bytes);
    chain_ += alone + work;
    port_ += by.most * wire;
    skew_ = std::max(skew_, (by.most - 1) * wire);
    tail_ = alone - wire + work;
}

void rounds::shift(rank_t distance, double bytes, double work) noexcept {
    pass(near_.cross([&](rank_t rank) { return (rank + distance) % size_; }), bytes, work);
}

void rounds::swap(rank_t distance, double bytes, double work) noexcept {
    const auto partner = [&](rank_t rank) {
        const folding fold(rank, size_);
        return fold.gives() ? neighbourhood::none : fold.real(fold.folded() ^ distance);
    };
    pass(near_.cross(partner), bytes, work);
}

void rounds::fold(double bytes, double work) noexcept {
    const auto partner = [&](rank_t rank) {
        const folding fold(rank, size_);
        return fold.gives() ? fold.partner() : neighbourhood::none;
    };
    pass(near_.cross(partner), bytes, work);
}

void rounds::tree(rank_t distance, double bytes, double work) noexcept {
    const auto partner = [&](rank_t rank) {
        const bool sends = rank % (2 * distance) == 0 && rank + distance < size_;
        return sends ? rank + distance : neighbourhood::none;
    };
    pass(near_.cross(partner), bytes, work);
}

// A block passes every link once, so most of its hops are inside nodes; but the links between them
// carry every block.
void rounds::ring(rank_t steps, double bytes, double work) noexcept {
    if (steps == 0) return;
    const auto by = near_.cross([&](rank_t rank) { return (rank + 1) % size_; });
    const double hop_inside = near_.message(false, bytes) + work;
    if (by.most <= 0) {
        inside_ += steps * hop_inside;
        return;
    }
    const double crossed = std::min<double>(steps, steps * by.share + (by.share < 1 ? 1 : 0));
    const double hop_between = near_.message(true, bytes) + work;
    const double chain = crossed * hop_between + (steps - crossed) * hop_inside;
    const double wire = near_.wire(true, bytes);
    const double step = std::max(by.most * wire, near_.per_message(true) + work);
    inside_ += std::max(chain, (steps - 1) * step + hop_between);
}

}  // namespace ucg::algo
