#include "ucg/sim/samples.hpp"

#include <fmt/format.h>

#include "uct/sim/random.hpp"

namespace ucg::sim {
namespace {

using schedule::collective;

samples::element factor(std::uint64_t index) noexcept {
    return static_cast<samples::element>(index * 2654435761U + 0x9e3779b9U) | 1U;
}

}  // namespace

samples::samples(collective what, rank_t ranks, rank_t root, std::uint64_t count)
    : what_(what),
      ranks_(ranks),
      root_(root),
      count_(what == collective::barrier ? 0 : count),
      how_(reduce::element::uint32, reduce::operation::sum, ranks),
      sums_(ranks + 1),
      counts_(ranks, count),
      places_(ranks),
      from_(ranks),
      into_(ranks) {
    uct::sim::random weights(ranks);
    for (rank_t r = 0; r < ranks; ++r) {
        sums_[r + 1] = sums_[r] + static_cast<element>(weights.next());
        places_[r] = r * count;
    }
    for (rank_t r = 0; r < ranks; ++r) {
        if (gives(r)) from_[r].resize(count_ * (gives_blocks() ? ranks : 1));
        for (std::uint64_t i = 0; i < from_[r].size(); ++i)
            from_[r][i] = sum(r, r + 1, i);
        if (gets(r)) into_[r].assign(count_ * (gets_blocks() ? ranks : 1), 0);
        if (what_ == collective::bcast && r == root) {
            for (std::uint64_t i = 0; i < count_; ++i)
                into_[r][i] = sum(root, root + 1, i);
        }
    }
}

samples::element samples::sum(rank_t first, rank_t end, std::uint64_t index) const noexcept {
    return (sums_[end] - sums_[first]) * factor(index);
}

bool samples::gives_blocks() const noexcept {
    return what_ == collective::scatter || what_ == collective::scatterv ||
           what_ == collective::reduce_scatter || what_ == collective::reduce_scatter_block ||
           what_ == collective::alltoall || what_ == collective::alltoallv;
}

bool samples::gets_blocks() const noexcept {
    return what_ == collective::gather || what_ == collective::gatherv ||
           what_ == collective::allgather || what_ == collective::allgatherv ||
           what_ == collective::alltoall || what_ == collective::alltoallv;
}

bool samples::gives(rank_t rank) const noexcept {
    if (what_ == collective::bcast || what_ == collective::barrier) return false;
    return (what_ != collective::scatter && what_ != collective::scatterv) || rank == root_;
}

bool samples::gets(rank_t rank) const noexcept {
    const bool one =
        what_ == collective::reduce || what_ == collective::gather || what_ == collective::gatherv;
    return !one || rank == root_;
}

schedule::call samples::call_of(rank_t rank) noexcept {
    schedule::call made;
    made.what = what_;
    made.from = from_[rank].data();
    made.into = into_[rank].data();
    made.count = count_;
    made.element = sizeof(element);
    made.how = &how_;
    made.root = root_;
    const bool uneven = what_ == collective::gatherv || what_ == collective::scatterv ||
                        what_ == collective::allgatherv || what_ == collective::alltoallv ||
                        what_ == collective::reduce_scatter;
    if (uneven) {
        made.counts = made.out_counts = counts_.data();
        made.places = made.out_places = places_.data();
    }
    return made;
}

samples::element samples::expected(rank_t rank, std::uint64_t index) const noexcept {
    const auto block = static_cast<rank_t>(count_ == 0 ? 0 : index / count_);
    const std::uint64_t in_block = count_ == 0 ? 0 : index % count_;
    switch (what_) {
        case collective::bcast:
            return sum(root_, root_ + 1, index);
        case collective::reduce:
        case collective::allreduce:
            return sum(0, ranks_, index);
        case collective::scan:
            return sum(0, rank + 1, index);
        case collective::exscan:
            return rank == 0 ? 0 : sum(0, rank, index);
        case collective::scatter:
        case collective::scatterv:
            return sum(root_, root_ + 1, rank * count_ + index);
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            return sum(0, ranks_, rank * count_ + index);
        case collective::alltoall:
        case collective::alltoallv:
            return sum(block, block + 1, rank * count_ + in_block);
        default:
            return sum(block, block + 1, in_block);
    }
}

std::string samples::wrong(rank_t rank) const {
    for (std::uint64_t i = 0; i < into_[rank].size(); ++i) {
        const element right = expected(rank, i);
        if (into_[rank][i] != right) {
            return fmt::format("rank {}, element {}: {:#x} instead of {:#x}", rank, i,
                               into_[rank][i], right);
        }
    }
    return {};
}

}  // namespace ucg::sim
