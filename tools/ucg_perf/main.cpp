// ucg_perf: how long collectives take.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tools/common/affinity.hpp"
#include "tools/common/failure.hpp"
#include "tools/ucg_perf/job.hpp"
#include "tools/ucg_perf/local_ranks.hpp"
#include "tools/ucg_perf/options.hpp"
#include "tools/ucg_perf/report.hpp"
#include "tools/ucg_perf/trial.hpp"

namespace {

using namespace tools::ucg_perf;

// To the processor of the list whose turn it is.
void bind_rank(const options& wanted, std::uint32_t place) {
    if (!wanted.processors) return;
    const std::vector<unsigned> cpus =
        wanted.processors->empty() ? tools::allowed_cpus() : *wanted.processors;
    tools::pin_thread({cpus[place % cpus.size()]}, 0, 1);
}

// Whether all ranks got what they should.
bool measure(const job& with, const options& wanted, const subject& what) {
    const measurement found = trial(with, wanted, what).run();
    if (with.rank() != 0) return found.right;
    const std::uint64_t element = ucg_type_size(wanted.type);
    const wanted_layout of{what.what, what.bytes / element, wanted.root, wanted.in_place};
    result_row line;
    line.what = what.what;
    line.bytes = what.bytes;
    line.whole = whole(of, with.size()) * element;
    line.iterations = found.times.size();
    line.ranks = with.size();
    line.times = summarise(found.times);
    line.bus_factor = bus_factor(what.what, with.size());
    line.algorithm = found.algorithm;
    line.reason = found.reason;
    line.right = found.right;
    fmt::print("{}", row(wanted, line));
    (void)std::fflush(stdout);
    return found.right;
}

bool measure_all(const job& with, const options& wanted) {
    bool right = true;
    std::vector<const char*> algorithms;
    for (const std::string& each : wanted.algorithms)
        algorithms.push_back(each.c_str());
    if (algorithms.empty()) algorithms.push_back(nullptr);
    for (const ucg_coll_t what : wanted.collectives) {
        const bool sized = what != UCG_COLL_BARRIER;
        for (const std::uint64_t bytes : sized ? wanted.sizes : std::vector<std::uint64_t>{0})
            for (const char* const by : algorithms)
                right = measure(with, wanted, {what, bytes, by}) && right;
    }
    return right;
}

int run_job(const options& wanted, ucg_oob_t* over) {
    // Before the memory of the group is touched: it lies where the processor is.
    if (wanted.ranks == 0 && wanted.processors) bind_rank(wanted, place_on_machine(*over));
    const job with(over);
    if (wanted.root >= with.size()) {
        throw tools::usage_error(
            fmt::format("-r: there is no rank {} of {}", wanted.root, with.size()));
    }
    if (with.rank() == 0) {
        fmt::print("{}", header(wanted, with.about()));
        (void)std::fflush(stdout);
    }
    const bool right = measure_all(with, wanted);
    with.barrier();
    return right ? EXIT_SUCCESS : tools::exit_failure;
}

// The exit status of what was done, or of why it could not be.
template<class Work>
int told(const std::string& who, const Work& work) {
    try {
        return work();
    } catch (const tools::usage_error& error) {
        fmt::print(stderr, "{}: {} (-h shows the options)\n", who, error.what());
        return tools::exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", who, error.what());
        return tools::exit_failure;
    }
}

int run_as_rank(const options& wanted, ucg_oob_t* over) {
    return told(fmt::format("ucg_perf: rank {}", over->rank),
                [&] { return run_job(wanted, over); });
}

int run(const options& wanted) {
    if (wanted.processors) tools::check_cpus('C', *wanted.processors);
    if (wanted.ranks == 0) {
        ucg_oob_t* over = nullptr;
        check(ucg_oob_create_env(&over), "finding the other ranks");
        return run_as_rank(wanted, over);
    }
    return run_local_ranks(wanted.ranks, [&](std::uint32_t rank, ucg_oob_t* over) {
        return told(fmt::format("ucg_perf: rank {}", rank), [&] {
            bind_rank(wanted, rank);
            return run_as_rank(wanted, over);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    const int status = told("ucg_perf", [&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options wanted = parse_options(words);
        if (wanted.help || wanted.list) {
            fmt::print("{}", wanted.help ? help_text() : list_text());
            return EXIT_SUCCESS;
        }
        return run(wanted);
    });
    return std::fflush(stdout) == 0 ? status : tools::exit_failure;
}
