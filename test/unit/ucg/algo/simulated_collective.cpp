#include "test/unit/ucg/algo/simulated_collective.hpp"

#include <fmt/ranges.h>

using namespace ucg;
using namespace schedule;

namespace test {
namespace {

// Sizes that differ, and are equal in both directions where a call in place needs that.
ucg::reference::problem problem_of(const scenario& setup) {
    const auto size = [setup](rank_t from, rank_t to) {
        const schedule::traits kind = traits_of(setup.kind);
        if (!kind.gives_blocks || !kind.takes_blocks)
            return ((kind.takes_blocks ? from : to) * 3 + setup.count) % 4 * setup.count / 2;
        const rank_t low = setup.in_place ? std::min(from, to) : from;
        const rank_t high = setup.in_place ? std::max(from, to) : to;
        return (low * 5 + high * 3 + setup.count) % 4 * setup.count / 2;
    };
    return {setup.kind, setup.ranks, setup.count, setup.root, setup.in_place, size, setup.seed + 1};
}

ucg_op_t operator_of(const scenario& setup) {
    return setup.op == operators::sum       ? UCG_OP_SUM
           : setup.op == operators::average ? UCG_OP_AVERAGE
                                            : UCG_OP_USER;
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

reference::reference(const scenario& setup) : setup_(setup) {
    if (setup.op != operators::affine) {
        op_ = std::make_unique<schedule::kernel_reducer>(
            reduce::element::uint64, static_cast<reduce::operation>(operator_of(setup)),
            setup.ranks);
    } else {
        op_ = std::make_unique<schedule::user_reducer>(ucg::reference::word_operator::function,
                                                       &affine_, 8, false);
    }
    for (rank_t rank = 0; rank < setup.ranks; ++rank)
        ranks_.emplace_back(problem_of(setup),
                            ucg::reference::elements{UCG_TYPE_UINT64, operator_of(setup), 8, {}},
                            rank);
    refill();
}

void reference::refill() {
    for (collective_memory& each : ranks_)
        each.fill(setup_.seed);
}

schedule::call reference::call_of(rank_t rank) const {
    const ucg::reference::layout& layout = ranks_[rank].layout();
    const schedule::traits kind = traits_of(setup_.kind);
    schedule::call made;
    made.kind = setup_.kind;
    made.in_place = layout.in_place;
    made.from = ranks_[rank].source();
    made.into = ranks_[rank].target();
    made.count = layout.count;
    made.element = setup_.kind == collective::barrier ? 1 : 8;
    if (setup_.kind == collective::scatterv && rank == setup_.root) {
        made.counts = layout.source_counts.data();
        made.offsets = layout.source_offsets.data();
    } else if (kind.has_counts && (!kind.has_root() || rank == setup_.root)) {
        made.counts = layout.target_counts.data();
        made.offsets = layout.target_offsets.data();
    }
    if (setup_.kind == collective::alltoallv && !made.in_place) {
        made.out_counts = layout.source_counts.data();
        made.out_offsets = layout.source_offsets.data();
    }
    made.op = kind.reduces ? op_.get() : nullptr;
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
    const std::string error = ranks_[rank].wrong();
    return error.empty() ? error : fmt::format("rank {}: {}", rank, error);
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

bool fits(const scenario& setup, const schedule::algorithm& algorithm) {
    const schedule::placement placement = placement_of(machine_of(setup));
    const schedule::shape known{.ranks = setup.ranks, .node_placement = &placement};
    return can_run(algorithm, reference(setup).call_of(0), known, false);
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
