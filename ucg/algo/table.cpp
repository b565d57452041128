#include "ucg/algo/table.hpp"

#include "ucg/algo/allreduce/allreduce.hpp"
#include "ucg/algo/barrier/barrier.hpp"

namespace ucg::algo {

std::span<const schedule::algorithm> algorithms(schedule::collective what) noexcept {
    switch (what) {
        case collective::barrier:
            return barrier::rows;
        case collective::allreduce:
            return allreduce::rows;
        default:
            return {};
    }
}

const schedule::algorithm* find(schedule::collective what, std::string_view name) noexcept {
    for (const schedule::algorithm& each : algorithms(what))
        if (each.name == name) return &each;
    return nullptr;
}

const schedule::algorithm& choose(const schedule::call& what, const schedule::shape& of,
                                  const schedule::link_cost& link, bool deterministic) noexcept {
    const schedule::algorithm* best = nullptr;
    double least = 0;
    for (const schedule::algorithm& each : algorithms(what.what)) {
        if (!fits(each, what, of.ranks, deterministic)) continue;
        const double cost = each.cost(of, link);
        if (best != nullptr && cost >= least) continue;
        best = &each;
        least = cost;
    }
    return *best;
}

}  // namespace ucg::algo
