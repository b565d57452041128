#include "ucg/sim/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"
#include "ucg/sim/samples.hpp"
#include "ucg/sim/trial.hpp"

namespace ucg::sim {
namespace {

std::uint64_t elements_of(const experiment& setup) noexcept {
    return static_cast<std::uint64_t>(std::ceil(setup.bytes / sizeof(samples::element)));
}

// Number of elements that memory holds. A vector stays divisible by the number of ranks, so that
// its pieces keep the relative size that they have in the whole vector.
std::uint64_t carried_of(const machine& spec, const experiment& setup) noexcept {
    const std::uint64_t elements = elements_of(setup);
    if (traits_of(setup.kind).has_blocks())
        return std::min(elements, std::max<std::uint64_t>(setup.carried / spec.ranks, 1));
    const std::uint64_t least = std::max<std::uint64_t>(setup.carried, spec.ranks);
    return elements <= least ? elements : least / spec.ranks * spec.ranks;
}

struct all_ranks {
    network net;
    samples data;
    std::deque<schedule::operation> operations;
};

ucs_status_t begin(all_ranks& all, const experiment& setup, const schedule::algorithm& algorithm) {
    // A byte in memory stands for `weight` bytes.
    const auto scaled = [&](std::size_t bytes) {
        const double made = static_cast<double>(bytes) / all.net.spec().weight;
        return static_cast<std::size_t>(std::max(made, 1.0));
    };
    schedule::tuning sizes = setup.sizes;
    sizes.segment = scaled(sizes.segment);
    sizes.leader_bytes = scaled(sizes.leader_bytes);
    for (rank_t rank = 0; rank < all.net.spec().ranks; ++rank) {
        schedule::call call = all.data.call_of(rank);
        call.sizes = sizes;
        all.operations.emplace_back(all.net.fabric(rank), all.net.frames());
        const ucs_status_t status = all.operations.back().init(algorithm, call);
        if (status != UCS_OK) return status;
    }
    if (setup.death >= 0) all.net.kill(setup.victim, setup.death);
    for (schedule::operation& each : all.operations)
        each.start();
    return UCS_OK;
}

}  // namespace

schedule::shape shape_of(const experiment& setup, const schedule::placement& placement) noexcept {
    schedule::shape made;
    made.ranks = placement.ranks();
    made.bytes = setup.bytes;
    made.node_placement = &placement;
    made.sizes = setup.sizes;
    made.root = setup.root;
    return made;
}

ucs::result<outcome> measure(const machine& spec, const experiment& setup,
                             const schedule::algorithm& algorithm) try {
    machine scaled = spec;
    const std::uint64_t elements = elements_of(setup);
    const std::uint64_t carried = carried_of(spec, setup);
    if (carried != 0) scaled.weight = static_cast<double>(elements) / static_cast<double>(carried);
    all_ranks all{network(scaled), samples(setup.kind, spec.ranks, setup.root, carried), {}};
    if (const ucs_status_t status = begin(all, setup, algorithm); status != UCS_OK) return status;
    all.net.run();
    outcome result;
    result.weight = scaled.weight;
    collect_results(all.net, all.operations, result);
    for (rank_t rank = 0; rank < spec.ranks && result.wrong.empty(); ++rank)
        if (!all.net.fabric(rank).is_dead()) result.wrong = all.data.wrong(rank);
    count_traffic(all.net, result);
    return result;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

}  // namespace ucg::sim
