#include "ucg/select/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ucg/algo/allgather/allgather.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::select {
namespace {

using schedule::call;
using schedule::member;
using schedule::placement;
using schedule::rank_t;
using schedule::task;

constexpr std::size_t short_message = 8;
constexpr std::size_t long_message = 64 * 1024;
constexpr unsigned rounds_before = 4;  // connections are made, caches filled
constexpr unsigned short_rounds = 16;
constexpr unsigned long_rounds = 3;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// The first rank of a node and that of the next one; no partner: the rank itself.
rank_t partner_of(const placement& where, rank_t rank) noexcept {
    const rank_t node = where.node_of(rank);
    const rank_t other = node ^ 1U;
    if (where.index_of(rank) != 0 || other >= where.nodes()) return rank;
    return where.at(other, 0);
}

// The best of several times, of a message there and one back.
task ping_pong(member& me, rank_t with, bool first, std::byte* data, std::size_t bytes,
               unsigned rounds, double& best) {
    best = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < rounds; ++i) {
        const ucs::time::nanoseconds begin = ucs::time::now();
        if (first) co_await me.send(with, data, bytes);
        co_await me.receive(with, data, bytes);
        if (!first) co_await me.send(with, data, bytes);
        best = std::min(best, static_cast<double>(ucs::time::now() - begin) * 1e-9);
    }
}

task run(member& me, const call& what) {
    // The placement comes as input; see measuring().
    const auto& where = *static_cast<const placement*>(what.from);
    const rank_t with = partner_of(where, me.rank());
    auto* const own = reinterpret_cast<link_sample*>(me.scratch(sizeof(link_sample)));
    std::byte* const data = me.scratch(long_message);
    *own = {nothing, nothing};
    if (with != me.rank()) {
        std::fill_n(data, long_message, std::byte{0});
        const bool first = me.rank() < with;
        double waste = 0, quick = 0, slow = 0;
        co_await ping_pong(me, with, first, data, long_message, 1, waste);
        co_await ping_pong(me, with, first, data, short_message, rounds_before, waste);
        co_await ping_pong(me, with, first, data, short_message, short_rounds, quick);
        co_await ping_pong(me, with, first, data, long_message, long_rounds, slow);
        own->latency = quick / 2;
        own->per_byte = std::max(slow - quick, 0.0) / (2.0 * (long_message - short_message));
    }
    call all = what;
    all.from = own;
    co_await algo::allgather::bruck::run(me, all);
}

std::size_t scratch(const call& what, rank_t rank, rank_t size) {
    return sizeof(link_sample) + long_message + algo::allgather::bruck::scratch(what, rank, size);
}

double median(std::vector<double> of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
}

}  // namespace

const schedule::algorithm measure_links{
    schedule::collective::allgather,
    "measure_links",
    &run,
    &scratch,
    schedule::condition::none,
    [](const schedule::shape&, const schedule::link_cost&) { return 0.0; }};

call measuring(const placement& where, std::vector<link_sample>& into) {
    into.assign(where.ranks(), {nothing, nothing});
    call what;
    what.what = schedule::collective::allgather;
    what.count = sizeof(link_sample);
    what.from = &where;
    what.into = into.data();
    return what;
}

void adopt(const std::vector<link_sample>& measured, schedule::link_cost& links) {
    std::vector<double> latencies, per_bytes;
    for (const link_sample& each : measured) {
        // They came from other ranks.
        if (each.latency > 0 && std::isfinite(each.latency)) latencies.push_back(each.latency);
        if (each.per_byte > 0 && std::isfinite(each.per_byte)) per_bytes.push_back(each.per_byte);
    }
    if (!latencies.empty()) links.latency = median(latencies);
    if (!per_bytes.empty()) links.per_byte = median(per_bytes);
}

}  // namespace ucg::select
