#include "test/unit/ucg/algo/simulated_collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <numeric>

using namespace ucg;
using schedule::collective;
using schedule::rank_t;

namespace test {
namespace {

constexpr std::uint64_t untouched = 0x5151515151515151;

std::uint64_t chain(std::uint64_t left, std::uint64_t right) {
    const auto a = static_cast<std::uint32_t>(left), b = static_cast<std::uint32_t>(left >> 32U);
    const auto c = static_cast<std::uint32_t>(right), d = static_cast<std::uint32_t>(right >> 32U);
    return static_cast<std::uint64_t>(a * c) | (static_cast<std::uint64_t>(a * d + b) << 32U);
}

void chain_all(const void* in, void* inout, std::size_t count, void*) {
    const auto* left = static_cast<const std::uint64_t*>(in);
    auto* right = static_cast<std::uint64_t*>(inout);
    for (std::size_t i = 0; i < count; ++i)
        right[i] = chain(left[i], right[i]);
}

bool has_blocks(collective collective) {
    return collective == collective::gatherv || collective == collective::scatterv ||
           collective == collective::allgatherv || collective == collective::reduce_scatter ||
           collective == collective::alltoallv;
}

bool reduces(collective collective) {
    return collective == collective::reduce || collective == collective::allreduce ||
           collective == collective::reduce_scatter ||
           collective == collective::reduce_scatter_block || collective == collective::scan ||
           collective == collective::exscan;
}

}  // namespace

std::string text(const scenario& setup) {
    return fmt::format("{} of {} ranks, {} to a node, count {}, root {}{}{}, seed {}, segment {}",
                       name(setup.kind), setup.ranks, setup.ranks_per_node, setup.count, setup.root,
                       setup.in_place ? ", in place" : "",
                       setup.op == operators::affine    ? ", not commutative"
                       : setup.op == operators::average ? ", average"
                                                        : "",
                       setup.seed, setup.sizes.segment) +
           (setup.nodes.empty() ? "" : fmt::format(", nodes {}", fmt::join(setup.nodes, " ")));
}

reference::reference(const scenario& setup) : setup_(setup), ranks_(setup.ranks) {
    if (setup.op != operators::affine) {
        const auto kernel =
            setup.op == operators::sum ? reduce::operation::sum : reduce::operation::average;
        op_ = std::make_unique<schedule::kernel_reducer>(reduce::element::uint64, kernel,
                                                         setup.ranks);
    } else {
        op_ = std::make_unique<schedule::user_reducer>(chain_all, nullptr, 8, false);
    }
    describe_blocks();
    make_input();
    make_expected();
    refill();
}

bool reference::in_place_at(rank_t rank) const {
    const bool only_root = setup_.kind == collective::reduce || setup_.kind == collective::gather ||
                           setup_.kind == collective::gatherv ||
                           setup_.kind == collective::scatter ||
                           setup_.kind == collective::scatterv;
    return setup_.in_place && (!only_root || rank == setup_.root);
}

// Returns the elements of the block from one rank to another. In place, the block in the opposite
// direction has the same length.
std::uint64_t reference::block(rank_t from, rank_t to) const {
    if (setup_.kind != collective::alltoallv) {
        return has_blocks(setup_.kind) ? (to * 3 + setup_.count) % 4 * setup_.count / 2
                                       : setup_.count;
    }
    const rank_t low = setup_.in_place ? std::min(from, to) : from;
    const rank_t high = setup_.in_place ? std::max(from, to) : to;
    return (low * 5 + high * 3 + setup_.count) % 4 * setup_.count / 2;
}

void reference::describe_blocks() {
    const std::uint64_t gap = setup_.kind == collective::reduce_scatter ? 0 : 1;
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        rank_data& data = ranks_[rank];
        std::uint64_t in = 0, out = 0;
        for (rank_t i = 0; i < setup_.ranks; ++i) {
            const bool all = setup_.kind == collective::alltoallv;
            data.counts.push_back(all ? block(i, rank) : block(rank, i));
            data.offsets.push_back(in);
            data.out_counts.push_back(block(rank, i));
            data.out_offsets.push_back(out);
            in += data.counts.back() + gap;
            out += data.out_counts.back() + gap;
        }
        data.offsets.push_back(in);
        data.out_offsets.push_back(out);
    }
}

void reference::make_input() {
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        rank_data& data = ranks_[rank];
        std::size_t size = setup_.count;
        switch (setup_.kind) {
            case collective::gatherv:
            case collective::allgatherv:
                size = data.counts[rank];
                break;
            case collective::scatter:
            case collective::reduce_scatter_block:
            case collective::alltoall:
                size = setup_.count * setup_.ranks;
                break;
            case collective::scatterv:
            case collective::reduce_scatter:
                size = data.offsets.back();
                break;
            case collective::alltoallv:
                size = data.out_offsets.back();
                break;
            default:
                break;
        }
        for (std::size_t i = 0; i < size; ++i)
            data.input.push_back(ucs::sys::mix(rank * 100003 + i + setup_.seed * 7919));
    }
}

void reference::expect(rank_t rank, std::size_t offset, rank_t source, std::size_t begin,
                       std::size_t count) {
    rank_data& data = ranks_[rank];
    for (std::size_t i = 0; i < count; ++i) {
        data.expected[offset + i] = ranks_[source].input[begin + i];
        data.matters[offset + i] = true;
    }
}

void reference::expect_reduction(rank_t rank, rank_t first, rank_t last, std::size_t begin,
                                 std::size_t count) {
    rank_data& data = ranks_[rank];
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t sum = ranks_[first].input[begin + i];
        for (rank_t r = first + 1; r <= last; ++r) {
            const std::uint64_t next = ranks_[r].input[begin + i];
            sum = setup_.op == operators::affine ? chain(sum, next) : sum + next;
        }
        data.expected[i] = setup_.op == operators::average ? sum / setup_.ranks : sum;
        data.matters[i] = true;
    }
}

void reference::make_expected() {
    const rank_t last = setup_.ranks - 1;
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        rank_data& data = ranks_[rank];
        const bool is_root = rank == setup_.root;
        const std::size_t all =
            std::max({std::size_t{data.offsets.back()}, std::size_t{data.out_offsets.back()},
                      std::size_t{setup_.count * setup_.ranks}, data.input.size()}) +
            1;
        data.expected.assign(all, untouched);
        data.matters.assign(all, !setup_.in_place);
        const auto blocks = [&](rank_t i) {
            return has_blocks(setup_.kind) ? data.offsets[i] : i * setup_.count;
        };
        switch (setup_.kind) {
            case collective::barrier:
                break;
            case collective::bcast:
                expect(rank, 0, setup_.root, 0, setup_.count);
                break;
            case collective::reduce:
                if (is_root) expect_reduction(rank, 0, last, 0, setup_.count);
                break;
            case collective::allreduce:
                expect_reduction(rank, 0, last, 0, setup_.count);
                break;
            case collective::gather:
            case collective::gatherv:
                for (rank_t i = 0; is_root && i <= last; ++i)
                    expect(rank, blocks(i), i, 0, data.counts[i]);
                break;
            case collective::scatter:
            case collective::scatterv:
                if (in_place_at(rank)) break;
                expect(rank, 0, setup_.root, blocks(rank), data.counts[rank]);
                break;
            case collective::allgather:
            case collective::allgatherv:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, blocks(i), i, 0, data.counts[i]);
                break;
            case collective::reduce_scatter:
            case collective::reduce_scatter_block:
                expect_reduction(rank, 0, last, blocks(rank), data.counts[rank]);
                break;
            case collective::alltoall:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, i * setup_.count, i, rank * setup_.count, setup_.count);
                break;
            case collective::alltoallv:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, data.offsets[i], i, ranks_[i].out_offsets[rank], data.counts[i]);
                break;
            case collective::scan:
                expect_reduction(rank, 0, rank, 0, setup_.count);
                break;
            case collective::exscan:
                if (rank != 0) expect_reduction(rank, 0, rank - 1, 0, setup_.count);
                break;
        }
    }
}

void reference::refill() {
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        rank_data& data = ranks_[rank];
        data.from = data.input;
        data.into.assign(data.expected.size(), untouched);
        const bool scatters =
            setup_.kind == collective::scatter || setup_.kind == collective::scatterv;
        const bool gathers =
            setup_.kind == collective::gather || setup_.kind == collective::gatherv ||
            setup_.kind == collective::allgather || setup_.kind == collective::allgatherv;
        if (setup_.kind == collective::bcast && rank == setup_.root) {
            std::copy(data.input.begin(), data.input.end(), data.into.begin());
        } else if (in_place_at(rank) && !scatters) {
            const std::uint64_t begin = !gathers                  ? 0
                                        : has_blocks(setup_.kind) ? data.offsets[rank]
                                                                  : rank * setup_.count;
            std::copy(data.input.begin(), data.input.end(),
                      data.into.begin() + static_cast<std::ptrdiff_t>(begin));
            data.from.clear();
        }
    }
}

schedule::call reference::call_of(rank_t rank) {
    rank_data& data = ranks_[rank];
    schedule::call made;
    made.kind = setup_.kind;
    made.in_place = in_place_at(rank);
    const bool scatters = setup_.kind == collective::scatter || setup_.kind == collective::scatterv;
    made.from = made.in_place && !scatters ? nullptr : data.from.data();
    // In a reduction to a root, only the root has a result buffer.
    const bool none = setup_.kind == collective::reduce && rank != setup_.root;
    made.into = none || (made.in_place && scatters) ? nullptr : data.into.data();
    made.count = setup_.count;
    made.element = setup_.kind == collective::barrier ? 1 : 8;
    const bool one_sided =
        setup_.kind == collective::gatherv || setup_.kind == collective::scatterv;
    if (has_blocks(setup_.kind)) {
        made.count = data.counts[rank];
        if (!one_sided || rank == setup_.root) {
            made.counts = data.counts.data();
            made.offsets = data.offsets.data();
        }
    }
    if (setup_.kind == collective::alltoallv) {
        made.count = 0;
        made.out_counts = data.out_counts.data();
        made.out_offsets = data.out_offsets.data();
    }
    made.op = reduces(setup_.kind) ? op_.get() : nullptr;
    made.root = setup_.root;
    made.sizes = setup_.sizes;
    return made;
}

std::string reference::wrong() const {
    for (rank_t rank = 0; rank < setup_.ranks; ++rank)
        if (std::string error = wrong_at(rank); !error.empty()) return error;
    return {};
}

std::string reference::wrong_at(rank_t rank) const {
    const rank_data& data = ranks_[rank];
    for (std::size_t i = 0; i < data.expected.size(); ++i) {
        if (data.matters[i] && data.into[i] != data.expected[i]) {
            return fmt::format("rank {}, element {}: {:x} instead of {:x}", rank, i, data.into[i],
                               data.expected[i]);
        }
    }
    return {};
}

sim::machine machine_of(const scenario& setup) {
    sim::machine like;
    like.ranks = setup.ranks;
    like.ranks_per_node = setup.ranks_per_node;
    like.strict = true;
    like.seed = setup.seed;
    like.max_delay = setup.seed != 0 ? 20'000 : 0;
    like.max_skew = setup.seed != 0 ? 10'000 : 0;
    like.nodes = setup.nodes;
    return like;
}

std::string run(const scenario& setup, const schedule::algorithm& algorithm) {
    sim::network net(machine_of(setup));
    reference data(setup);
    std::deque<schedule::operation> operations;
    for (rank_t rank = 0; rank < setup.ranks; ++rank) {
        operations.emplace_back(net.fabric(rank), net.frames());
        if (operations.back().init(algorithm, data.call_of(rank)) != UCS_OK) return "init";
    }
    for (unsigned round = 0; round < setup.starts; ++round) {
        data.refill();
        for (schedule::operation& each : operations)
            each.start();
        net.run();
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            const ucs_status_t status = operations[rank].status();
            if (status != UCS_OK)
                return fmt::format("rank {}: {}", rank, ucs_status_string(status));
            if (net.fabric(rank).critical_path().total() != net.fabric(rank).clock())
                return fmt::format("rank {}: the path is not as long as it took", rank);
        }
        if (const std::string error = data.wrong(); !error.empty()) return error;
    }
    return {};
}

}  // namespace test
