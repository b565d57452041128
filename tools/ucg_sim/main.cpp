// ucg_sim: collectives on a described machine, in virtual time.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tools/common/failure.hpp"
#include "tools/ucg_sim/options.hpp"
#include "tools/ucg_sim/report.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/sim/experiment.hpp"

namespace {

using namespace tools::ucg_sim;
using ucg::schedule::algorithm;
using ucg::schedule::collective;

void list() {
    for (std::size_t i = 0; i < ucg::schedule::collective_count; ++i) {
        const auto what = static_cast<collective>(i);
        fmt::print("{:<20}", name(what));
        for (const algorithm& each : ucg::algo::algorithms(what))
            fmt::print(" {}", each.name);
        fmt::print("\n");
    }
}

ucg::sim::experiment experiment_of(const options& wanted, collective what, double bytes) {
    ucg::sim::experiment made;
    made.what = what;
    made.bytes = what == collective::barrier ? 0 : bytes;
    made.root = wanted.root;
    made.sizes = wanted.cutting;
    made.carried = wanted.carried;
    return made;
}

// Those that -a names and that can serve the collective.
std::vector<const algorithm*> chosen(const options& wanted, const ucg::sim::experiment& what) {
    const ucg::schedule::placement where = placement_of(wanted.on);
    ucg::schedule::call call;
    call.what = what.what;
    if (wanted.algorithm == "auto") {
        return {&ucg::algo::choose(call, shape_of(what, where), costs_of(wanted.on),
                                   wanted.deterministic)};
    }
    std::vector<const algorithm*> made;
    for (const algorithm& each : ucg::algo::algorithms(what.what)) {
        if (wanted.algorithm != "all" && wanted.algorithm != each.name) continue;
        if (fits(each, call, shape_of(what, where), wanted.deterministic)) made.push_back(&each);
    }
    return made;
}

// Whether all results were right.
bool run(const options& wanted, collective what, double bytes) {
    const ucg::sim::experiment experiment = experiment_of(wanted, what, bytes);
    const ucg::schedule::placement where = placement_of(wanted.on);
    bool right = true;
    for (const algorithm* by : chosen(wanted, experiment)) {
        auto found = measure(wanted.on, experiment, *by);
        if (!found.ok()) {
            throw tools::failure(fmt::format("{} of {} bytes: {}", name(what), bytes,
                                             ucs_status_string(found.status())));
        }
        right = right && found->wrong.empty();
        const double predicted = by->cost(shape_of(experiment, where), costs_of(wanted.on));
        const result_row line{name(what), by->name, experiment.bytes, predicted, std::move(*found)};
        fmt::print("{}", row(line, wanted.csv));
        std::fflush(stdout);
    }
    return right;
}

bool run_all(const options& wanted) {
    bool right = true;
    fmt::print("{}", header(wanted.on, wanted.csv));
    for (const collective what : wanted.collectives) {
        for (const double bytes : wanted.sizes) {
            right = run(wanted, what, bytes) && right;
            if (what == collective::barrier) break;
        }
    }
    return right;
}

void check_algorithm(const options& wanted) {
    if (wanted.algorithm == "all" || wanted.algorithm == "auto") return;
    for (const collective what : wanted.collectives)
        if (ucg::algo::find(what, wanted.algorithm) != nullptr) return;
    throw tools::usage_error(
        fmt::format("-a: there is no algorithm \"{}\" (-l lists them)", wanted.algorithm));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options wanted = parse_options(words);
        check_algorithm(wanted);
        if (wanted.help)
            fmt::print("{}", help_text());
        else if (wanted.list)
            list();
        else if (!run_all(wanted))
            return tools::exit_failure;
    } catch (const tools::usage_error& error) {
        fmt::print(stderr, "ucg_sim: {} (-h shows the options)\n", error.what());
        return tools::exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "ucg_sim: {}\n", error.what());
        return tools::exit_failure;
    }
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
