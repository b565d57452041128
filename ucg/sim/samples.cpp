#include "ucg/sim/samples.hpp"

#include <fmt/format.h>

#include "ucs/sys/random.hpp"

namespace ucg::sim {
namespace {

using schedule::collective;

samples::element factor(std::uint64_t index) noexcept {
    return static_cast<samples::element>(index * 2654435761U + 0x9e3779b9U) | 1U;
}

}  // namespace

samples::samples(collective kind, rank_t ranks, rank_t root, std::uint64_t count)
    : kind_(kind),
      ranks_(ranks),
      root_(root),
      count_(kind == collective::barrier ? 0 : count),
      reducer_(reduce::element::uint32, reduce::operation::sum, ranks),
      sums_(ranks + 1),
      counts_(ranks, count),
      offsets_(ranks),
      inputs_(ranks),
      outputs_(ranks) {
    ucs::sys::random weights(ranks);
    for (rank_t r = 0; r < ranks; ++r) {
        sums_[r + 1] = sums_[r] + static_cast<element>(weights.next());
        offsets_[r] = r * count;
    }
    for (rank_t r = 0; r < ranks; ++r) {
        if (has_input(r)) inputs_[r].resize(count_ * (has_input_blocks() ? ranks : 1));
        for (std::uint64_t i = 0; i < inputs_[r].size(); ++i)
            inputs_[r][i] = sum(r, r + 1, i);
        if (has_output(r)) outputs_[r].assign(count_ * (has_output_blocks() ? ranks : 1), 0);
        if (kind_ == collective::bcast && r == root) {
            for (std::uint64_t i = 0; i < count_; ++i)
                outputs_[r][i] = sum(root, root + 1, i);
        }
    }
}

samples::element samples::sum(rank_t first, rank_t end, std::uint64_t index) const noexcept {
    return (sums_[end] - sums_[first]) * factor(index);
}

bool samples::has_input_blocks() const noexcept {
    return kind_ == collective::scatter || kind_ == collective::scatterv ||
           kind_ == collective::reduce_scatter || kind_ == collective::reduce_scatter_block ||
           kind_ == collective::alltoall || kind_ == collective::alltoallv;
}

bool samples::has_output_blocks() const noexcept {
    return kind_ == collective::gather || kind_ == collective::gatherv ||
           kind_ == collective::allgather || kind_ == collective::allgatherv ||
           kind_ == collective::alltoall || kind_ == collective::alltoallv;
}

bool samples::has_input(rank_t rank) const noexcept {
    if (kind_ == collective::bcast || kind_ == collective::barrier) return false;
    return (kind_ != collective::scatter && kind_ != collective::scatterv) || rank == root_;
}

bool samples::has_output(rank_t rank) const noexcept {
    const bool one =
        kind_ == collective::reduce || kind_ == collective::gather || kind_ == collective::gatherv;
    return !one || rank == root_;
}

schedule::call samples::call_of(rank_t rank) noexcept {
    schedule::call made;
    made.kind = kind_;
    made.from = inputs_[rank].data();
    made.into = outputs_[rank].data();
    made.count = count_;
    made.element = sizeof(element);
    made.op = &reducer_;
    made.root = root_;
    const bool uneven = kind_ == collective::gatherv || kind_ == collective::scatterv ||
                        kind_ == collective::allgatherv || kind_ == collective::alltoallv ||
                        kind_ == collective::reduce_scatter;
    if (uneven) {
        made.counts = made.out_counts = counts_.data();
        made.offsets = made.out_offsets = offsets_.data();
    }
    return made;
}

samples::element samples::expected(rank_t rank, std::uint64_t index) const noexcept {
    const auto block = static_cast<rank_t>(count_ == 0 ? 0 : index / count_);
    const std::uint64_t in_block = count_ == 0 ? 0 : index % count_;
    switch (kind_) {
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
    for (std::uint64_t i = 0; i < outputs_[rank].size(); ++i) {
        const element right = expected(rank, i);
        if (outputs_[rank][i] != right) {
            return fmt::format("rank {}, element {}: {:#x} instead of {:#x}", rank, i,
                               outputs_[rank][i], right);
        }
    }
    return {};
}

}  // namespace ucg::sim
