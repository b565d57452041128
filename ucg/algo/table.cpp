#include "ucg/algo/table.hpp"

#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/alltoall/alltoall.hpp"
#include "ucg/algo/barrier/barrier.hpp"
#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/gather/gather.hpp"
#include "ucg/algo/reduce/reduce.hpp"
#include "ucg/algo/reduce_scatter/reduce_scatter.hpp"
#include "ucg/algo/scan/scan.hpp"
#include "ucg/algo/scatter/scatter.hpp"

namespace ucg::algo {

std::span<const schedule::algorithm> algorithms(schedule::collective collective) noexcept {
    switch (collective) {
        case collective::barrier:
            return barrier::rows;
        case collective::bcast:
            return bcast::rows;
        case collective::reduce:
            return reduce::rows;
        case collective::allreduce:
            return allreduce::rows;
        case collective::gather:
            return gather::rows;
        case collective::gatherv:
            return gather::rows_v;
        case collective::scatter:
            return scatter::rows;
        case collective::scatterv:
            return scatter::rows_v;
        case collective::allgather:
            return allgather::rows;
        case collective::allgatherv:
            return allgather::rows_v;
        case collective::reduce_scatter:
            return reduce_scatter::rows;
        case collective::reduce_scatter_block:
            return reduce_scatter::rows_block;
        case collective::alltoall:
            return alltoall::rows;
        case collective::alltoallv:
            return alltoall::rows_v;
        case collective::scan:
            return scan::rows;
        case collective::exscan:
            return scan::rows_exclusive;
    }
    return {};
}

const schedule::algorithm* find(schedule::collective collective, std::string_view name) noexcept {
    for (const schedule::algorithm& each : algorithms(collective))
        if (each.name == name) return &each;
    return nullptr;
}

const schedule::algorithm& choose(const schedule::call& args, const schedule::shape& params,
                                  const schedule::link_cost& link, bool deterministic) noexcept {
    // If the engine can serve a call, nothing is faster. Its row is the last.
    const schedule::algorithm& last = algorithms(args.kind).back();
    if (has(last.needs, schedule::condition::engine) && can_run(last, args, params, deterministic))
        return last;
    const schedule::algorithm* best = nullptr;
    double least = 0;
    for (const schedule::algorithm& each : algorithms(args.kind)) {
        if (!can_run(each, args, params, deterministic)) continue;
        const double cost = each.cost(params, link);
        if (best != nullptr && cost >= least) continue;
        best = &each;
        least = cost;
    }
    return *best;
}

}  // namespace ucg::algo
