#include "ucg/sim/node_collective.hpp"

#include <algorithm>
#include <cstring>

#include "ucg/algo/common/blocks.hpp"

namespace ucg::sim {
namespace {

using schedule::call;
using schedule::collective;

constexpr int garbage = 0xa5;

struct range {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
};

bool has_counts(collective kind) noexcept {
    return kind == collective::allgatherv || kind == collective::reduce_scatter;
}

// Collectives that hierarchical algorithms use inside a node.
bool is_supported(collective kind) noexcept {
    switch (kind) {
        case collective::barrier:
        case collective::bcast:
        case collective::reduce:
        case collective::allreduce:
        case collective::gather:
        case collective::scatter:
        case collective::allgather:
        case collective::allgatherv:
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
        case collective::alltoall:
            return true;
        default:
            return false;
    }
}

// Offset and length, in elements, of the block of a local rank. Blocks of reduce_scatter have no
// gaps.
std::uint64_t begin_of(const call& args, rank_t local_rank) noexcept {
    if (!has_counts(args.kind)) return local_rank * args.count;
    if (args.kind != collective::reduce_scatter) return args.offsets[local_rank];
    std::uint64_t sum = 0;
    for (rank_t i = 0; i < local_rank; ++i)
        sum += args.counts[i];
    return sum;
}
std::uint64_t count_of(const call& args, rank_t local_rank) noexcept {
    return has_counts(args.kind) ? args.counts[local_rank] : args.count;
}
std::uint64_t end_of_all(const call& args, rank_t ranks) noexcept {
    std::uint64_t end = 0;
    for (rank_t i = 0; i < ranks; ++i)
        end = std::max(end, begin_of(args, i) + count_of(args, i));
    return end;
}

bool gathers(collective kind) noexcept {
    return kind == collective::gather || kind == collective::allgather ||
           kind == collective::allgatherv;
}
bool only_root_gets(collective kind) noexcept {
    return kind == collective::reduce || kind == collective::gather;
}

range input_of(const call& args, rank_t local_rank, rank_t ranks) noexcept {
    const std::byte* const base = algo::input_of(args);
    switch (args.kind) {
        case collective::barrier:
            return {};
        case collective::bcast:
            if (local_rank != args.root) return {};
            return {algo::bytes_of(args.into), args.count * args.element};
        case collective::scatter:
            if (local_rank != args.root) return {};
            return {algo::bytes_of(args.from), end_of_all(args, ranks) * args.element};
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
        case collective::alltoall:
            return {base, end_of_all(args, ranks) * args.element};
        default:
            break;
    }
    if (!gathers(args.kind)) return {base, args.count * args.element};
    const std::size_t offset = args.in_place ? begin_of(args, local_rank) * args.element : 0;
    return {base + offset, count_of(args, local_rank) * args.element};
}

range output_of(const call& args, rank_t local_rank, rank_t ranks) noexcept {
    const std::byte* const base = algo::bytes_of(args.into);
    if (args.kind == collective::barrier || (only_root_gets(args.kind) && local_rank != args.root))
        return {};
    if (args.kind == collective::bcast && local_rank == args.root) return {};
    if (args.kind == collective::scatter && local_rank == args.root && args.in_place) return {};
    if (gathers(args.kind) || args.kind == collective::alltoall)
        return {base, end_of_all(args, ranks) * args.element};
    return {base, count_of(args, local_rank) * args.element};
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
    for (rank_t local_rank = 0; local_rank < ranks(); ++local_rank) {
        const call& other = call_of(local_rank);
        if (other.kind != first.kind || other.element != first.element || other.root != first.root)
            return false;
        if (has_counts(first.kind) ? !std::equal(first.counts, first.counts + ranks(), other.counts)
                                   : other.count != first.count)
            return false;
    }
    return is_supported(first.kind) && first.root < ranks();
}

void node_collective::read() {
    has_read_ = true;
    inputs_.resize(ranks());
    for (rank_t local_rank = 0; local_rank < ranks(); ++local_rank) {
        const range in = input_of(call_of(local_rank), local_rank, ranks());
        inputs_[local_rank].assign(in.begin, in.begin + in.bytes);
    }
    if (takes_operator(call_of(0).kind)) reduce();
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
    if (takes_operator(args.kind)) {
        const bool all = args.kind == collective::reduce || args.kind == collective::allreduce;
        put(local_rank, 0, std::span(reduced_).subspan(all ? 0 : begin, bytes));
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
