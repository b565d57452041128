// Measures messages between two processes of this machine (over the rings of ucg/node), describes
// them as a link of the simulator, and compares the simulator's times for allreduce with measured
// ones. The ratios are a report, not a test.
//
//   ucg_predicted [rounds]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "test/bench/forked_ranks.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/node/rings/fabric.hpp"
#include "ucg/schedule/algorithm.hpp"
#include "ucg/sim/experiment.hpp"

using namespace ucg;
using namespace schedule;

namespace {

constexpr std::size_t small = 8;
constexpr std::size_t medium = 64 * 1024;
constexpr std::size_t large = 1024 * 1024;
constexpr unsigned in_a_row = 64;
constexpr const char* compared[] = {"recursive_doubling", "rabenseifner", "ring"};
constexpr std::size_t sizes[] = {8, 1024, 16 * 1024, 256 * 1024, 4 * 1024 * 1024};

// A message in each direction.
task ping_pong(member& me, const call& params) {
    if (me.rank() == 0) {
        co_await me.send(1, params.from, params.count);
        co_await me.receive(1, params.into, params.count);
    } else {
        co_await me.receive(0, params.into, params.count);
        co_await me.send(0, params.from, params.count);
    }
}

// Several small messages, then a reply.
task stream(member& me, const call& params) {
    std::array<schedule::flight, in_a_row> all;
    for (schedule::flight& each : all) {
        if (me.rank() == 0)
            each.send(me, 1, params.from, small);
        else
            each.receive(me, 0, params.into, small);
    }
    for (schedule::flight& each : all)
        co_await each;
    if (me.rank() == 0)
        co_await me.receive(1, params.into, small);
    else
        co_await me.send(0, params.from, small);
}

schedule::algorithm row_of(task (*run)(member&, const call&)) {
    return {schedule::collective::barrier,
            "test",
            run,
            [](const call&, schedule::rank_t, schedule::rank_t) { return std::size_t{0}; },
            schedule::condition::none,
            [](const schedule::shape&, const schedule::link_cost&) { return 0.0; }};
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// State of one rank.
struct side {
    node::fabric& over;
    schedule::frame_pool& frames;
    unsigned rounds;
    std::vector<float> from = std::vector<float>(sizes[std::size(sizes) - 1] / sizeof(float), 1);
    std::vector<float> into = from;

    // The shortest time in seconds, to exclude other activity of the machine.
    double time(const schedule::algorithm& algorithm, call params) {
        params.from = from.data();
        params.into = into.data();
        schedule::operation operation(over, frames);
        if (operation.init(algorithm, params) != UCS_OK) std::exit(1);
        std::vector<double> all;
        for (unsigned i = 0; i < rounds + rounds / 10 + 1; ++i) {
            const double start = now();
            operation.start();
            if (over.wait(operation) != UCS_OK) std::exit(1);
            if (i > rounds / 10) all.push_back(now() - start);
        }
        return *std::ranges::min_element(all);
    }
    double time(task (*run)(member&, const call&), std::size_t bytes) {
        call params;
        params.count = bytes;
        return time(row_of(run), params);
    }
};

call allreduce_of(std::size_t bytes, const schedule::reducer& reducer) {
    call params;
    params.kind = schedule::collective::allreduce;
    params.count = bytes / sizeof(float);
    params.element = sizeof(float);
    params.op = &reducer;
    return params;
}

double reduce_rate(side& me, const schedule::reducer& reducer) {
    const void* const sources[] = {me.from.data(), me.into.data()};
    constexpr unsigned times = 64;
    const double start = now();
    for (unsigned i = 0; i < times; ++i)
        reducer.combine(me.into.data(), sources, 2, medium / sizeof(float), false);
    return times * static_cast<double>(medium) / (now() - start);
}

// Half a round trip is the latency and both overheads. The time of an additional small message is
// the larger overhead. The time of additional bytes is the bandwidth.
sim::machine describe(side& me, const schedule::reducer& reducer) {
    const double one_way = me.time(ping_pong, small) / 2;
    const double a_row = me.time(stream, small);
    const double overhead = std::max(a_row - 2 * one_way, 0.0) / (in_a_row - 1);
    const double slope = (me.time(ping_pong, large) - me.time(ping_pong, medium)) / 2;
    sim::machine made;
    made.ranks = made.ranks_per_node = 2;
    made.inside.send_overhead = made.inside.receive_overhead =
        std::min(overhead, one_way / 2) * 1e9;
    made.inside.latency = one_way * 1e9 - 2 * made.inside.send_overhead;
    made.inside.bandwidth = static_cast<double>(large - medium) / std::max(slope, 1e-9);
    made.reduce_rate = reduce_rate(me, reducer);
    return made;
}

void run_rank(int fd, const node::geometry& like, node::rank_t rank, unsigned rounds) {
    auto memory = node::shared_memory::attach(fd, like);
    if (!memory) std::exit(1);
    const std::vector<pid_t> no_processes(like.ranks, 0);
    node::watch lives(no_processes);
    node::early_limit early;
    node::fabric over(*memory, lives, rank, early);
    schedule::frame_pool frames;
    side me{over, frames, rounds};
    const schedule::kernel_reducer reducer(reduce::element::fp32, reduce::operation::sum, 2);
    const sim::machine on = describe(me, reducer);
    if (rank == 0) {
        std::printf("# latency %.0f ns, %.2f GB/s, overheads %.0f ns, reducing %.2f GB/s\n",
                    on.inside.latency, on.inside.bandwidth / 1e9, on.inside.send_overhead,
                    on.reduce_rate / 1e9);
        std::printf("%-20s %10s %14s %14s %8s\n", "allreduce", "bytes", "measured us",
                    "simulated us", "ratio");
    }
    for (const char* const name : compared) {
        const schedule::algorithm& algorithm = *algo::find(schedule::collective::allreduce, name);
        for (const std::size_t bytes : sizes) {
            const double measured = me.time(algorithm, allreduce_of(bytes, reducer));
            sim::experiment experiment;
            experiment.bytes = static_cast<double>(bytes);
            const auto found = sim::measure(on, experiment, algorithm);
            if (rank == 0 && found.ok())
                std::printf("%-20s %10zu %14.2f %14.2f %8.2f\n", name, bytes, measured * 1e6,
                            found->seconds * 1e6, found->seconds / measured);
        }
    }
}

}  // namespace

int main(int count, char** words) {
    const unsigned rounds =
        count > 1 ? static_cast<unsigned>(std::strtoul(words[1], nullptr, 0)) : 200;
    node::geometry like;
    like.ranks = 2;
    auto file = node::shared_memory::make(like);
    if (!file || rounds == 0) return 1;
    return run_forked_ranks(like.ranks,
                            [&](node::rank_t rank) { run_rank(file->get(), like, rank, rounds); });
}
