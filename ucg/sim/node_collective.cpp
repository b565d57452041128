#include "ucg/sim/node_collective.hpp"

#include <algorithm>
#include <cstring>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/patterns/pattern.hpp"

namespace ucg::sim {
namespace {

using schedule::call;
using schedule::collective;

constexpr int garbage = 0xa5;

struct range {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
};

// Offset and length, in elements, of the block of a local rank. Blocks of reduce_scatter have no
// gaps.
std::uint64_t begin_of(const call& args, rank_t local_rank) noexcept {
    if (!traits_of(args.kind).has_counts) return local_rank * args.count;
    if (args.kind != collective::reduce_scatter) return args.offsets[local_rank];
    std::uint64_t sum = 0;
    for (rank_t i = 0; i < local_rank; ++i)
        sum += args.counts[i];
    return sum;
}
std::uint64_t count_of(const call& args, rank_t local_rank) noexcept {
    return traits_of(args.kind).has_counts ? args.counts[local_rank] : args.count;
}
std::uint64_t end_of_all(const call& args, rank_t ranks) noexcept {
    std::uint64_t end = 0;
    for (rank_t i = 0; i < ranks; ++i)
        end = std::max(end, begin_of(args, i) + count_of(args, i));
    return end;
}

range input_of(const call& args, rank_t local_rank, rank_t ranks) noexcept {
    const schedule::traits kind = traits_of(args.kind);
    if (args.kind == collective::barrier || (kind.root_gives && local_rank != args.root)) return {};
    const std::byte* const base = args.kind == collective::bcast     ? algo::bytes_of(args.into)
                                  : args.kind == collective::scatter ? algo::bytes_of(args.from)
                                                                     : algo::input_of(args);
    if (kind.gives_blocks) return {base, end_of_all(args, ranks) * args.element};
    const std::uint64_t first = args.in_place && kind.takes_blocks ? begin_of(args, local_rank) : 0;
    return {base + first * args.element, count_of(args, local_rank) * args.element};
}

range output_of(const call& args, rank_t local_rank, rank_t ranks) noexcept {
    const schedule::traits kind = traits_of(args.kind);
    const bool is_root = local_rank == args.root;
    if (args.kind == collective::barrier || (kind.root_takes && !is_root)) return {};
    if (args.kind == collective::bcast && is_root) return {};
    if (args.kind == collective::scatter && is_root && args.in_place) return {};
    const std::uint64_t count =
        kind.takes_blocks ? end_of_all(args, ranks) : count_of(args, local_rank);
    return {algo::bytes_of(args.into), count * args.element};
}

}  // namespace

void spoil_output(const call& args, rank_t local_rank, rank_t ranks) noexcept {
    const range in = input_of(args, local_rank, ranks);
    const range out = output_of(args, local_rank, ranks);
    const bool apart = in.begin + in.bytes <= out.begin || out.begin + out.bytes <= in.begin;
    if (!apart || out.bytes == 0) return;
    const auto* const base = algo::bytes_of(args.into);
    // Gaps between blocks may hold other data of the caller.
    if (args.kind != collective::allgatherv) {
        std::memset(args.into, garbage, out.bytes);
        return;
    }
    for (rank_t i = 0; i < ranks; ++i) {
        if (args.counts[i] == 0) continue;
        std::memset(const_cast<std::byte*>(base) + args.offsets[i] * args.element, garbage,
                    args.counts[i] * args.element);
    }
}

void node_collective::enter(rank_t local_rank, schedule::step& step) {
    steps_[local_rank] = &step;
    is_complete_ = ++present_ == ranks();
}

bool node_collective::leave(rank_t local_rank) noexcept {
    steps_[local_rank] = nullptr;
    return --present_ == 0;
}

bool node_collective::agrees() const noexcept {
    const call& first = call_of(0);
    if (!node::has_patterns(first.kind) || first.root >= ranks()) return false;
    const bool has_counts = traits_of(first.kind).has_counts;
    for (rank_t local_rank = 0; local_rank < ranks(); ++local_rank) {
        const call& other = call_of(local_rank);
        if (other.kind != first.kind || other.element != first.element || other.root != first.root)
            return false;
        if (has_counts ? !std::equal(first.counts, first.counts + ranks(), other.counts)
                       : other.count != first.count)
            return false;
    }
    return true;
}

void node_collective::read() {
    has_read_ = true;
    inputs_.resize(ranks());
    for (rank_t local_rank = 0; local_rank < ranks(); ++local_rank) {
        const range in = input_of(call_of(local_rank), local_rank, ranks());
        inputs_[local_rank].assign(in.begin, in.begin + in.bytes);
    }
    if (traits_of(call_of(0).kind).reduces) reduce();
}

// Reduces as the engine does: the result is final, so an average is divided here.
void node_collective::reduce() {
    const call& args = call_of(0);
    std::vector<const void*> sources;
    for (const std::vector<std::byte>& each : inputs_)
        sources.push_back(each.data());
    reduced_.resize(inputs_[0].size());
    if (reduced_.empty()) return;
    args.op->combine(reduced_.data(), sources.data(), sources.size(),
                     reduced_.size() / args.element, true);
}

std::span<const std::byte> node_collective::piece(rank_t source, std::size_t offset,
                                                  std::size_t bytes) const noexcept {
    return {inputs_[source].data() + offset, bytes};
}

void node_collective::put(rank_t local_rank, std::size_t offset,
                          std::span<const std::byte> data) const noexcept {
    if (!data.empty())
        std::memcpy(algo::bytes_of(call_of(local_rank).into) + offset, data.data(), data.size());
}

void node_collective::write(rank_t local_rank) const noexcept {
    const call& args = call_of(local_rank);
    if (output_of(args, local_rank, ranks()).bytes == 0) return;
    const std::size_t begin = begin_of(args, local_rank) * args.element;
    const std::size_t bytes = count_of(args, local_rank) * args.element;
    if (traits_of(args.kind).reduces) {
        const std::size_t first = traits_of(args.kind).gives_blocks ? begin : 0;
        put(local_rank, 0, std::span(reduced_).subspan(first, bytes));
    } else if (args.kind == collective::bcast) {
        put(local_rank, 0, piece(args.root, 0, bytes));
    } else if (args.kind == collective::scatter) {
        put(local_rank, 0, piece(args.root, begin, bytes));
    } else {
        for (rank_t i = 0; i < ranks(); ++i) {
            const std::size_t from = args.kind == collective::alltoall ? begin : 0;
            put(local_rank, begin_of(args, i) * args.element,
                piece(i, from, count_of(args, i) * args.element));
        }
    }
}

}  // namespace ucg::sim
