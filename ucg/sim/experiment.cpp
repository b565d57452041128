#include "ucg/sim/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/judging.hpp"
#include "ucg/sim/network.hpp"
#include "ucg/sim/samples.hpp"

namespace ucg::sim {
namespace {

using schedule::collective;

bool has_vector(collective what) noexcept {
    return what == collective::bcast || what == collective::reduce ||
           what == collective::allreduce || what == collective::scan || what == collective::exscan;
}

std::uint64_t elements_of(const experiment& what) noexcept {
    return static_cast<std::uint64_t>(std::ceil(what.bytes / sizeof(samples::element)));
}

// What is kept in memory of so many elements. A vector stays divisible by the ranks, so that its
// pieces are of the size that the pieces of the whole would have.
std::uint64_t carried_of(const machine& on, const experiment& what) noexcept {
    const std::uint64_t all = elements_of(what);
    if (!has_vector(what.what))
        return std::min(all, std::max<std::uint64_t>(what.carried / on.ranks, 1));
    const std::uint64_t least = std::max<std::uint64_t>(what.carried, on.ranks);
    return all <= least ? all : least / on.ranks * on.ranks;
}

struct all_ranks {
    network net;
    samples data;
    std::deque<schedule::operation> operations;
};

ucs_status_t begin(all_ranks& of, const experiment& what, const schedule::algorithm& by) {
    // A byte in memory stands for many.
    const auto scaled = [&](std::size_t bytes) {
        const double made = static_cast<double>(bytes) / of.net.like().weight;
        return static_cast<std::size_t>(std::max(made, 1.0));
    };
    schedule::tuning sizes = what.sizes;
    sizes.segment = scaled(sizes.segment);
    sizes.leader_bytes = scaled(sizes.leader_bytes);
    for (rank_t rank = 0; rank < of.net.like().ranks; ++rank) {
        schedule::call call = of.data.call_of(rank);
        call.sizes = sizes;
        of.operations.emplace_back(of.net.of(rank), of.net.frames());
        const ucs_status_t status = of.operations.back().init(by, call);
        if (status != UCS_OK) return status;
    }
    if (what.death >= 0) of.net.kill(what.victim, what.death);
    for (schedule::operation& each : of.operations)
        each.start();
    return UCS_OK;
}

}  // namespace

schedule::shape shape_of(const experiment& what, const schedule::placement& where) noexcept {
    schedule::shape made;
    made.ranks = where.ranks();
    made.bytes = what.bytes;
    made.where = &where;
    made.sizes = what.sizes;
    made.root = what.root;
    return made;
}

ucs::result<outcome> measure(const machine& on, const experiment& what,
                             const schedule::algorithm& by) try {
    machine scaled = on;
    const std::uint64_t all = elements_of(what);
    const std::uint64_t carried = carried_of(on, what);
    if (carried != 0) scaled.weight = static_cast<double>(all) / static_cast<double>(carried);
    all_ranks here{network(scaled), samples(what.what, on.ranks, what.root, carried), {}};
    if (const ucs_status_t status = begin(here, what, by); status != UCS_OK) return status;
    here.net.run();
    outcome result;
    result.weight = scaled.weight;
    judge(here.net, here.operations, result);
    for (rank_t rank = 0; rank < on.ranks && result.wrong.empty(); ++rank)
        if (!here.net.of(rank).dead()) result.wrong = here.data.wrong(rank);
    count_traffic(here.net, result);
    return result;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

}  // namespace ucg::sim
