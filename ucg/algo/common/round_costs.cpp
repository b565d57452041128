#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo {

namespace {

constexpr rank_t fully_sampled_ranks = 512;  // up to so many ranks, all nodes are in the sample
constexpr rank_t sampled_nodes = 16;         // size of the sample for larger groups

}  // namespace

link_model::link_model(const shape& params, const link_cost& link) noexcept
    : params_(params),
      link_(link),
      nodes_(params.node_placement != nullptr ? params.node_placement->nodes() : params.ranks),
      sampled_nodes_(params.ranks <= fully_sampled_ranks ? nodes_
                                                         : std::min(nodes_, sampled_nodes)) {}

void round_costs::pass(const link_model::crossing& crossing, double bytes, double work) noexcept {
    if (crossing.most <= 0) {
        inside_ += links_.message(false, bytes) + work;
        return;
    }
    const double wire = links_.wire(true, bytes);
    const double alone = links_.message(true, bytes);
    if (crossing.share < 1) {
        const double fast = links_.message(false, bytes);
        ++mixed_;
        slow_ += crossing.share;
        slower_by_ += std::max(alone - fast, 0.0);
        chain_ += std::min(alone, fast) + work;
    } else {
        chain_ += alone + work;
    }
    port_ += crossing.most * wire;
    skew_ = std::max(skew_, (crossing.most - 1) * wire);
    tail_ = alone - wire + work;
}

void round_costs::shift(rank_t distance, double bytes, double work) noexcept {
    pass(links_.cross([&](rank_t rank) { return (rank + distance) % size_; }), bytes, work);
}

void round_costs::swap(rank_t distance, double bytes, double work) noexcept {
    const auto partner = [&](rank_t rank) {
        const folding fold(rank, size_);
        return fold.sends_to_partner() ? link_model::none : fold.real(fold.folded() ^ distance);
    };
    pass(links_.cross(partner), bytes, work);
}

void round_costs::fold(double bytes, double work) noexcept {
    const auto partner = [&](rank_t rank) {
        const folding fold(rank, size_);
        return fold.sends_to_partner() ? fold.partner() : link_model::none;
    };
    pass(links_.cross(partner), bytes, work);
}

// A block passes every link of the ring once, so most of its hops are inside nodes. But the links
// between nodes carry every block.
void round_costs::ring(rank_t steps, double bytes, double work) noexcept {
    if (steps == 0) return;
    const auto crossing = links_.cross([&](rank_t rank) { return (rank + 1) % size_; });
    const double hop_inside = links_.message(false, bytes) + work;
    if (crossing.most <= 0) {
        inside_ += steps * hop_inside;
        return;
    }
    const double crossed = std::min<double>(steps, std::ceil(steps * crossing.share));
    const double hop_between = links_.message(true, bytes) + work;
    const double chain = crossed * hop_between + (steps - crossed) * hop_inside;
    const double wire = links_.wire(true, bytes);
    const double step = std::max(crossing.most * wire, links_.per_message(true) + work);
    inside_ += std::max(chain, (steps - 1) * step + hop_between);
}

}  // namespace ucg::algo
