#include "ucg/select/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/row.hpp"
#include "ucg/schedule/node_cost.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::select {
namespace {

using schedule::call;
using schedule::collective;
using schedule::member;
using schedule::placement;
using schedule::rank_t;
using schedule::task;

constexpr std::size_t short_message = 8;
constexpr std::size_t long_message = 64 * 1024;
constexpr unsigned rounds_before = 4;  // make connections and fill caches
constexpr unsigned short_rounds = 16;
constexpr unsigned long_rounds = 3;
constexpr unsigned in_a_row = 16;
constexpr unsigned times = 3;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr message_sample no_messages{nothing, nothing, nothing};
constexpr work_sample no_work{nothing, nothing};
constexpr price_sample no_sample{no_messages, no_messages, no_work, no_work, nothing};

// Measures times, and keeps the shortest.
class stopwatch {
public:
    void begin() noexcept { begin_ = ucs::time::now(); }
    void end() noexcept {
        best_ = std::min(best_, static_cast<double>(ucs::time::now() - begin_) * 1e-9);
    }
    [[nodiscard]] double best() const noexcept { return best_; }

private:
    ucs::time::nanoseconds begin_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
};

// --- messages between two ranks, of which one begins ---

struct pair {
    rank_t partner;
    bool first;
};

// Sends one message and returns one.
task ping_pong(member& me, pair roles, std::byte* data, std::size_t bytes, unsigned rounds,
               double& best) {
    stopwatch time;
    for (unsigned i = 0; i < rounds; ++i) {
        time.begin();
        if (roles.first) co_await me.send(roles.partner, data, bytes);
        co_await me.receive(roles.partner, data, bytes);
        if (!roles.first) co_await me.send(roles.partner, data, bytes);
        time.end();
    }
    best = time.best();
}

// Sends several messages, and returns one.
task burst(member& me, pair roles, std::byte* data, unsigned rounds, double& best) {
    std::array<schedule::flight, in_a_row> all;
    stopwatch time;
    for (unsigned i = 0; i < rounds; ++i) {
        time.begin();
        std::byte* position = data;
        for (schedule::flight& each : all) {
            if (roles.first)
                each.send(me, roles.partner, position, short_message);
            else
                each.receive(me, roles.partner, position, short_message);
            position += short_message;
        }
        for (schedule::flight& each : all)
            co_await each;
        if (roles.first)
            co_await me.receive(roles.partner, data, short_message);
        else
            co_await me.send(roles.partner, data, short_message);
        time.end();
    }
    best = time.best();
}

task messages(member& me, rank_t partner, std::byte* data, message_sample& found) {
    const pair roles{partner, me.rank() < partner};
    double waste = 0, quick = 0, slow = 0, many = 0;
    co_await ping_pong(me, roles, data, long_message, 1, waste);
    co_await ping_pong(me, roles, data, short_message, rounds_before, waste);
    co_await ping_pong(me, roles, data, short_message, short_rounds, quick);
    co_await burst(me, roles, data, short_rounds, many);
    co_await ping_pong(me, roles, data, long_message, long_rounds, slow);
    found.latency = quick / 2;
    found.per_byte = std::max(slow - quick, 0.0) / (2.0 * (long_message - short_message));
    found.per_message = std::max(many - quick, 0.0) / (in_a_row - 1);
}

// --- the work of one rank ---

task own_work(member& me, const schedule::reducer& sum, std::byte* data, std::byte* other,
              work_sample& found) {
    stopwatch copied, reduced;
    for (unsigned i = 0; i <= long_rounds; ++i) {
        copied.begin();
        co_await me.copy(other, data, long_message);
        copied.end();
        reduced.begin();
        co_await me.reduce(sum, data, data, other, long_message / sum.element(), false);
        reduced.end();
    }
    found.copy_byte = copied.best() / long_message;
    found.reduce_byte = reduced.best() / long_message;
}

// --- collectives of a node ---

// Measures some rounds between two barriers, since a rank by itself may find that all others have
// done their part, or may continue before they have.
task together(member& me, const call& args, unsigned rounds, double& each) {
    const call barrier;
    stopwatch time;
    for (unsigned i = 0; i < times; ++i) {
        co_await me.node_collective(barrier);
        time.begin();
        for (unsigned round = 0; round < rounds; ++round)
            co_await me.node_collective(args);
        co_await me.node_collective(barrier);
        time.end();
    }
    each = time.best() / rounds;
}

// Returns how often a price is paid in a collective of the node, by the formula of the prediction.
double share(collective type, rank_t ranks, double schedule::node_cost_params::*price) {
    schedule::node_cost_params one;
    one.flag = one.flag_read = one.copy_byte = one.reduce_byte = 0;
    one.*price = 1;
    constexpr double size = long_message;
    return schedule::node_cost_of({type, ranks, size, size * ranks, size}, one).total();
}

task node_work(member& me, rank_t ranks, const schedule::reducer& sum, std::byte* data,
               price_sample& found) {
    using price = schedule::node_cost_params;
    const call barrier;
    call bcast;
    bcast.kind = collective::bcast;
    bcast.into = data;
    bcast.count = long_message;
    call allreduce;
    allreduce.kind = collective::allreduce;
    allreduce.into = data;
    allreduce.in_place = true;
    allreduce.op = &sum;
    allreduce.element = sum.element();
    allreduce.count = long_message / sum.element();

    double met = 0, copied = 0, reduced = 0;
    co_await together(me, barrier, short_rounds, met);
    met *= short_rounds / (short_rounds + 1.0);
    co_await together(me, bcast, long_rounds, copied);
    copied -= met / long_rounds;
    co_await together(me, allreduce, long_rounds, reduced);
    reduced -= met / long_rounds;

    const auto paid = [&](collective type, double price::*member) {
        return share(type, ranks, member);
    };
    found.flag = met - (ranks - 1) * price{}.flag_read;
    work_sample& work = found.node;
    work.copy_byte = (copied - met) / paid(collective::bcast, &price::copy_byte);
    work.reduce_byte = (reduced - paid(collective::allreduce, &price::flag) * met -
                        paid(collective::allreduce, &price::copy_byte) * work.copy_byte) /
                       paid(collective::allreduce, &price::reduce_byte);
}

// --- the whole measurement ---

// Returns the partner on the neighbouring node, for the first rank of a node; the rank itself if
// there is none.
rank_t partner_between(const placement& placement, rank_t rank) noexcept {
    const rank_t other = placement.node_of(rank) ^ 1U;
    return placement.index_of(rank) == 0 && other < placement.nodes() ? placement.at(other, 0)
                                                                      : rank;
}

rank_t partner_inside(const placement& placement, rank_t rank) noexcept {
    const auto node_ranks = placement.ranks_on(placement.node_of(rank));
    const rank_t index = placement.index_of(rank);
    return index < 2 && node_ranks.size() > 1 ? node_ranks[index ^ 1U] : rank;
}

task run(member& me, const call& args) {
    // The placement comes as input; see measuring().
    const auto& placement = *static_cast<const schedule::placement*>(args.from);
    auto& own = *reinterpret_cast<price_sample*>(me.scratch(sizeof(price_sample)));
    std::byte* const data = me.scratch(long_message);
    std::byte* const other = me.scratch(long_message);
    own = no_sample;
    std::fill_n(data, long_message, std::byte{0});
    const schedule::kernel_reducer sum(reduce::element::fp32, reduce::operation::sum, me.size());
    const rank_t near = partner_inside(placement, me.rank());
    const rank_t far = partner_between(placement, me.rank());
    const auto node_ranks =
        static_cast<rank_t>(placement.ranks_on(placement.node_of(me.rank())).size());
    co_await own_work(me, sum, data, other, own.alone);
    if (far != me.rank()) co_await messages(me, far, data, own.between);
    if (near != me.rank()) co_await messages(me, near, data, own.inside);
    if (node_ranks > 1) co_await node_work(me, node_ranks, sum, data, own);
    call all = args;
    all.from = &own;
    co_await algo::allgather::bruck::run(me, all);
}

std::size_t scratch(const call& args, rank_t rank, rank_t size) {
    return sizeof(price_sample) + 2 * long_message +
           algo::allgather::bruck::scratch(args, rank, size);
}

std::size_t scratch_on_nodes(const call& args, rank_t rank, const placement& placement) {
    return scratch(args, rank, placement.ranks());
}

double no_cost(const schedule::shape&, const schedule::link_cost&) {
    return 0;
}

const schedule::algorithm between_single_ranks{
    collective::allgather, "measure_links", &run, &scratch, schedule::condition::none, &no_cost};
const schedule::algorithm with_nodes{
    collective::allgather, "measure_nodes", &run, &scratch, schedule::condition::nodes, &no_cost,
    &scratch_on_nodes};

// The samples come from other ranks, so they may have any value.
template<class Read>
void take_median(const std::vector<price_sample>& measured, double& into, Read read) {
    std::vector<double> all;
    for (const price_sample& each : measured)
        if (const double value = read(each); value > 0 && std::isfinite(value))
            all.push_back(value);
    if (all.empty()) return;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    into = *middle;
}

template<class Links>
void adopt_messages(const std::vector<price_sample>& measured, Links& links,
                    message_sample price_sample::*which) {
    const auto take = [&](double& into, double message_sample::*field) {
        take_median(measured, into,
                    [&](const price_sample& sample) { return sample.*which.*field; });
    };
    take(links.latency, &message_sample::latency);
    take(links.per_byte, &message_sample::per_byte);
    take(links.per_message, &message_sample::per_message);
}

template<class Prices>
void adopt_work(const std::vector<price_sample>& measured, Prices& prices,
                work_sample price_sample::*which) {
    const auto take = [&](double& into, double work_sample::*field) {
        take_median(measured, into,
                    [&](const price_sample& sample) { return sample.*which.*field; });
    };
    take(prices.copy_byte, &work_sample::copy_byte);
    take(prices.reduce_byte, &work_sample::reduce_byte);
}

}  // namespace

const schedule::algorithm& measurement(const placement& placement) noexcept {
    return placement.max_ranks_per_node() > 1 ? with_nodes : between_single_ranks;
}

call measuring(const placement& placement, std::vector<price_sample>& into) {
    into.assign(placement.ranks(), no_sample);
    call args;
    args.kind = collective::allgather;
    args.count = sizeof(price_sample);
    args.from = &placement;
    args.into = into.data();
    return args;
}

void adopt(const std::vector<price_sample>& measured, schedule::link_cost& links) {
    adopt_messages(measured, links, &price_sample::between);
    adopt_messages(measured, links.inside, &price_sample::inside);
    adopt_work(measured, links, &price_sample::alone);
    adopt_work(measured, links.node, &price_sample::node);
    take_median(measured, links.node.flag, [](const price_sample& sample) { return sample.flag; });
}

std::string text_of(const schedule::link_cost& links) {
    const auto messages = [](const auto& cost) {
        return fmt::format("{:.2f} us and {:.0f} MB/s, {:.2f} us for one more message",
                           cost.latency * 1e6, 1e-6 / cost.per_byte, cost.per_message * 1e6);
    };
    const auto work = [](const auto& cost) {
        return fmt::format("copies {:.0f} MB/s, reduces {:.0f} MB/s", 1e-6 / cost.copy_byte,
                           1e-6 / cost.reduce_byte);
    };
    return fmt::format("between nodes {}; inside {}; a rank {}; a node {}, a flag in {:.2f} us",
                       messages(links), messages(links.inside), work(links), work(links.node),
                       links.node.flag * 1e6);
}

}  // namespace ucg::select
