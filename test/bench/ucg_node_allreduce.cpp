// Times of fp32 sum allreduce on the node's engine: forked ranks, each bound to a core, data
// written before each call. Prints bytes, and the minimum and the median of rank 0's times in
// us.
//
//   ucg_node_allreduce [name=value]...
//
// The names are those of read_options() below, for example: ranks=4 smallest=4096 segment=65536
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

#include "test/bench/forked_ranks.hpp"
#include "ucg/node/engine/engine.hpp"

using namespace ucg;

namespace {

struct options {
    node::geometry like;
    node::tuning tuning;
    std::size_t smallest = 8;
    std::size_t largest = 1U << 26;
    std::size_t calls = 5000;  // per size, at most
};

std::size_t number(int count, char** words, std::string_view name, std::size_t otherwise) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
            return std::strtoull(words[i] + name.size() + 1, nullptr, 0);
    }
    return otherwise;
}

options read_options(int count, char** words) {
    options made;
    const auto read = [&](std::string_view name, auto& value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(
            number(count, words, name, value));
    };
    made.like.ranks = 2;
    read("ranks", made.like.ranks);
    read("smallest", made.smallest);
    read("largest", made.largest);
    read("calls", made.calls);
    read("slots", made.like.slots);
    read("slot_bytes", made.like.slot_bytes);
    read("mailbox_bytes", made.like.mailbox_bytes);
    read("segment", made.tuning.segment);
    read("block", made.tuning.block);
    read("direct_bytes", made.tuning.direct_bytes);
    read("direct_ranks", made.tuning.direct_ranks);
    read("direct_ranks_bytes", made.tuning.direct_ranks_bytes);
    read("streamed", made.tuning.nontemporal_bytes);
    return made;
}

struct vectors {
    std::vector<float> from, into;
};

// Measures one size. Returns microseconds of each call, sorted.
std::vector<double> measure(node::engine& engine, const schedule::reducer& reducer,
                            std::size_t bytes, vectors& data, unsigned calls) {
    const std::size_t count = bytes / sizeof(float);
    schedule::call params;
    params.kind = schedule::collective::allreduce;
    params.from = data.from.data();
    params.into = data.into.data();
    params.count = count;
    params.element = sizeof(float);
    params.op = &reducer;
    node::operation operation(engine);
    if (operation.init(params) != UCS_OK) std::exit(1);
    std::vector<double> times;
    for (unsigned i = 0; i < calls; ++i) {
        const auto value = static_cast<float>(i + engine.rank());
        std::fill_n(data.from.begin(), count, value);
        const auto start = std::chrono::steady_clock::now();
        operation.start();
        if (engine.wait(operation) != UCS_OK) std::exit(1);
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - start;
        times.push_back(took.count());
        const auto n = static_cast<float>(engine.size());
        if (data.into[count - 1] != n * static_cast<float>(i) + n * (n - 1) / 2) std::exit(2);
    }
    std::sort(times.begin(), times.end());
    return times;
}

void run_rank(int fd, const options& all, node::rank_t rank, const std::vector<pid_t>& pids) {
    auto memory = node::shared_memory::attach(fd, all.like);
    if (!memory) std::exit(1);
    node::watch lives(pids);
    node::engine engine(*memory, lives, rank, all.tuning);
    const schedule::kernel_reducer reducer(reduce::element::fp32, reduce::operation::sum,
                                           engine.size());
    vectors data{std::vector<float>(all.largest / 4), std::vector<float>(all.largest / 4)};
    for (std::size_t bytes = all.smallest; bytes <= all.largest; bytes *= bytes < 65536 ? 8 : 4) {
        const std::size_t fitting = std::max<std::size_t>((std::size_t{1} << 27) / bytes, 16);
        const auto calls = static_cast<unsigned>(std::min(fitting, all.calls));
        (void)measure(engine, reducer, bytes, data, std::max(calls / 10, 2U));
        const std::vector<double> times = measure(engine, reducer, bytes, data, calls);
        if (rank == 0)
            std::printf("%10zu %12.2f %12.2f\n", bytes, times.front(), times[times.size() / 2]);
    }
}

}  // namespace

int main(int count, char** words) {
    const options all = read_options(count, words);
    auto file = node::shared_memory::make(all.like);
    if (!file) return 1;
    std::printf("%10s %12s %12s   (us)\n", "bytes", "min", "median");
    std::fflush(stdout);
    const std::vector<pid_t> pids(all.like.ranks, 0);
    return run_forked_ranks(all.like.ranks,
                            [&](node::rank_t rank) { run_rank(file->get(), all, rank, pids); });
}
