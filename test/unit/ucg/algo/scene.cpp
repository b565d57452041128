#include "test/unit/ucg/algo/scene.hpp"

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

std::uint64_t mix(std::uint64_t seed) {
    return uct::sim::random(seed).next();
}

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

bool has_blocks(collective what) {
    return what == collective::gatherv || what == collective::scatterv ||
           what == collective::allgatherv || what == collective::reduce_scatter ||
           what == collective::alltoallv;
}

bool reduces(collective what) {
    return what == collective::reduce || what == collective::allreduce ||
           what == collective::reduce_scatter || what == collective::reduce_scatter_block ||
           what == collective::scan || what == collective::exscan;
}

}  // namespace

std::string text(const scenario& of) {
    return fmt::format("{} of {} ranks, {} to a node, count {}, root {}{}{}, seed {}, segment {}",
                       name(of.what), of.ranks, of.ranks_per_node, of.count, of.root,
                       of.in_place ? ", in place" : "",
                       of.how == operators::affine    ? ", not commutative"
                       : of.how == operators::average ? ", average"
                                                      : "",
                       of.seed, of.sizes.segment) +
           (of.nodes.empty() ? "" : fmt::format(", nodes {}", fmt::join(of.nodes, " ")));
}

reference::reference(const scenario& of) : of_(of), ranks_(of.ranks) {
    if (of.how != operators::affine) {
        const auto kernel =
            of.how == operators::sum ? reduce::operation::sum : reduce::operation::average;
        how_ =
            std::make_unique<schedule::kernel_reducer>(reduce::element::uint64, kernel, of.ranks);
    } else {
        how_ = std::make_unique<schedule::user_reducer>(chain_all, nullptr, 8, false);
    }
    describe_blocks();
    make_input();
    make_expected();
    refill();
}

bool reference::in_place_at(rank_t rank) const {
    const bool only_root = of_.what == collective::reduce || of_.what == collective::gather ||
                           of_.what == collective::gatherv || of_.what == collective::scatter ||
                           of_.what == collective::scatterv;
    return of_.in_place && (!only_root || rank == of_.root);
}

// Elements of the block from one rank to another; in place the other way round as many.
std::uint64_t reference::block(rank_t from, rank_t to) const {
    if (of_.what != collective::alltoallv) {
        return has_blocks(of_.what) ? (to * 3 + of_.count) % 4 * of_.count / 2 : of_.count;
    }
    const rank_t low = of_.in_place ? std::min(from, to) : from;
    const rank_t high = of_.in_place ? std::max(from, to) : to;
    return (low * 5 + high * 3 + of_.count) % 4 * of_.count / 2;
}

void reference::describe_blocks() {
    const std::uint64_t gap = of_.what == collective::reduce_scatter ? 0 : 1;
    for (rank_t rank = 0; rank < of_.ranks; ++rank) {
        rank_data& at = ranks_[rank];
        std::uint64_t in = 0, out = 0;
        for (rank_t i = 0; i < of_.ranks; ++i) {
            const bool all = of_.what == collective::alltoallv;
            at.counts.push_back(all ? block(i, rank) : block(rank, i));
            at.places.push_back(in);
            at.out_counts.push_back(block(rank, i));
            at.out_places.push_back(out);
            in += at.counts.back() + gap;
            out += at.out_counts.back() + gap;
        }
        at.places.push_back(in);
        at.out_places.push_back(out);
    }
}

void reference::make_input() {
    for (rank_t rank = 0; rank < of_.ranks; ++rank) {
        rank_data& at = ranks_[rank];
        std::size_t size = of_.count;
        switch (of_.what) {
            case collective::gatherv:
            case collective::allgatherv:
                size = at.counts[rank];
                break;
            case collective::scatter:
            case collective::reduce_scatter_block:
            case collective::alltoall:
                size = of_.count * of_.ranks;
                break;
            case collective::scatterv:
            case collective::reduce_scatter:
                size = at.places.back();
                break;
            case collective::alltoallv:
                size = at.out_places.back();
                break;
            default:
                break;
        }
        for (std::size_t i = 0; i < size; ++i)
            at.input.push_back(mix(rank * 100003 + i + of_.seed * 7919));
    }
}

void reference::expect(rank_t rank, std::size_t begin, rank_t source, std::size_t from,
                       std::size_t count) {
    rank_data& at = ranks_[rank];
    for (std::size_t i = 0; i < count; ++i) {
        at.expected[begin + i] = ranks_[source].input[from + i];
        at.matters[begin + i] = true;
    }
}

void reference::expect_reduction(rank_t rank, rank_t first, rank_t last, std::size_t begin,
                                 std::size_t count) {
    rank_data& at = ranks_[rank];
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t sum = ranks_[first].input[begin + i];
        for (rank_t r = first + 1; r <= last; ++r) {
            const std::uint64_t next = ranks_[r].input[begin + i];
            sum = of_.how == operators::affine ? chain(sum, next) : sum + next;
        }
        at.expected[i] = of_.how == operators::average ? sum / of_.ranks : sum;
        at.matters[i] = true;
    }
}

void reference::make_expected() {
    const rank_t last = of_.ranks - 1;
    for (rank_t rank = 0; rank < of_.ranks; ++rank) {
        rank_data& at = ranks_[rank];
        const bool is_root = rank == of_.root;
        const std::size_t all =
            std::max({std::size_t{at.places.back()}, std::size_t{at.out_places.back()},
                      std::size_t{of_.count * of_.ranks}, at.input.size()}) +
            1;
        at.expected.assign(all, untouched);
        at.matters.assign(all, !of_.in_place);
        const auto blocks = [&](rank_t i) {
            return has_blocks(of_.what) ? at.places[i] : i * of_.count;
        };
        switch (of_.what) {
            case collective::barrier:
                break;
            case collective::bcast:
                expect(rank, 0, of_.root, 0, of_.count);
                break;
            case collective::reduce:
                if (is_root) expect_reduction(rank, 0, last, 0, of_.count);
                break;
            case collective::allreduce:
                expect_reduction(rank, 0, last, 0, of_.count);
                break;
            case collective::gather:
            case collective::gatherv:
                for (rank_t i = 0; is_root && i <= last; ++i)
                    expect(rank, blocks(i), i, 0, at.counts[i]);
                break;
            case collective::scatter:
            case collective::scatterv:
                if (in_place_at(rank)) break;
                expect(rank, 0, of_.root, blocks(rank), at.counts[rank]);
                break;
            case collective::allgather:
            case collective::allgatherv:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, blocks(i), i, 0, at.counts[i]);
                break;
            case collective::reduce_scatter:
            case collective::reduce_scatter_block:
                expect_reduction(rank, 0, last, blocks(rank), at.counts[rank]);
                break;
            case collective::alltoall:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, i * of_.count, i, rank * of_.count, of_.count);
                break;
            case collective::alltoallv:
                for (rank_t i = 0; i <= last; ++i)
                    expect(rank, at.places[i], i, ranks_[i].out_places[rank], at.counts[i]);
                break;
            case collective::scan:
                expect_reduction(rank, 0, rank, 0, of_.count);
                break;
            case collective::exscan:
                if (rank != 0) expect_reduction(rank, 0, rank - 1, 0, of_.count);
                break;
        }
    }
}

void reference::refill() {
    for (rank_t rank = 0; rank < of_.ranks; ++rank) {
        rank_data& at = ranks_[rank];
        at.from = at.input;
        at.into.assign(at.expected.size(), untouched);
        const bool scatters = of_.what == collective::scatter || of_.what == collective::scatterv;
        const bool gathers = of_.what == collective::gather || of_.what == collective::gatherv ||
                             of_.what == collective::allgather ||
                             of_.what == collective::allgatherv;
        if (of_.what == collective::bcast && rank == of_.root) {
            std::copy(at.input.begin(), at.input.end(), at.into.begin());
        } else if (in_place_at(rank) && !scatters) {
            const std::uint64_t begin = !gathers               ? 0
                                        : has_blocks(of_.what) ? at.places[rank]
                                                               : rank * of_.count;
            std::copy(at.input.begin(), at.input.end(),
                      at.into.begin() + static_cast<std::ptrdiff_t>(begin));
            at.from.clear();
        }
    }
}

schedule::call reference::call_of(rank_t rank) {
    rank_data& at = ranks_[rank];
    schedule::call made;
    made.what = of_.what;
    made.in_place = in_place_at(rank);
    const bool scatters = of_.what == collective::scatter || of_.what == collective::scatterv;
    made.from = made.in_place && !scatters ? nullptr : at.from.data();
    // Of a reduction to a root, nobody else has a place for the result.
    const bool none = of_.what == collective::reduce && rank != of_.root;
    made.into = none || (made.in_place && scatters) ? nullptr : at.into.data();
    made.count = of_.count;
    made.element = of_.what == collective::barrier ? 1 : 8;
    const bool one_sided = of_.what == collective::gatherv || of_.what == collective::scatterv;
    if (has_blocks(of_.what)) {
        made.count = at.counts[rank];
        if (!one_sided || rank == of_.root) {
            made.counts = at.counts.data();
            made.places = at.places.data();
        }
    }
    if (of_.what == collective::alltoallv) {
        made.count = 0;
        made.out_counts = at.out_counts.data();
        made.out_places = at.out_places.data();
    }
    made.how = reduces(of_.what) ? how_.get() : nullptr;
    made.root = of_.root;
    made.sizes = of_.sizes;
    return made;
}

std::string reference::wrong() const {
    for (rank_t rank = 0; rank < of_.ranks; ++rank)
        if (std::string what = wrong_at(rank); !what.empty()) return what;
    return {};
}

std::string reference::wrong_at(rank_t rank) const {
    const rank_data& at = ranks_[rank];
    for (std::size_t i = 0; i < at.expected.size(); ++i) {
        if (at.matters[i] && at.into[i] != at.expected[i]) {
            return fmt::format("rank {}, element {}: {:x} instead of {:x}", rank, i, at.into[i],
                               at.expected[i]);
        }
    }
    return {};
}

sim::machine machine_of(const scenario& of) {
    sim::machine like;
    like.ranks = of.ranks;
    like.ranks_per_node = of.ranks_per_node;
    like.strict = true;
    like.seed = of.seed;
    like.max_delay = of.seed != 0 ? 20'000 : 0;
    like.max_skew = of.seed != 0 ? 10'000 : 0;
    like.nodes = of.nodes;
    return like;
}

std::string run(const scenario& of, const schedule::algorithm& by) {
    sim::network net(machine_of(of));
    reference data(of);
    std::deque<schedule::operation> operations;
    for (rank_t rank = 0; rank < of.ranks; ++rank) {
        operations.emplace_back(net.of(rank), net.frames());
        if (operations.back().init(by, data.call_of(rank)) != UCS_OK) return "init";
    }
    for (unsigned round = 0; round < of.starts; ++round) {
        data.refill();
        for (schedule::operation& each : operations)
            each.start();
        net.run();
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            const ucs_status_t status = operations[rank].status();
            if (status != UCS_OK)
                return fmt::format("rank {}: {}", rank, ucs_status_string(status));
            if (net.of(rank).how().total() != net.of(rank).clock())
                return fmt::format("rank {}: the path is not as long as it took", rank);
        }
        if (const std::string what = data.wrong(); !what.empty()) return what;
    }
    return {};
}

}  // namespace test
