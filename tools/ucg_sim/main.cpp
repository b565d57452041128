// ucg_sim: collectives on a described machine, in virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"
#include "tools/ucg_sim/options.hpp"
#include "tools/ucg_sim/report.hpp"
#include "tools/ucg_sim/steps.hpp"
#include "tools/ucg_sim/svg.hpp"
#include "tools/ucg_sim/sweep.hpp"
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

const algorithm& best_by_prediction(const options& wanted, const ucg::sim::experiment& what,
                                    const ucg::sim::machine& on) {
    ucg::schedule::call call;
    call.what = what.what;
    const ucg::schedule::placement where = placement_of(on);
    return ucg::algo::choose(call, shape_of(what, where), costs_of(on), wanted.deterministic);
}

// Those that -a names and that can serve the collective.
std::vector<const algorithm*> chosen(const options& wanted, const ucg::sim::experiment& what,
                                     const ucg::sim::machine& on) {
    if (wanted.algorithm == "auto") return {&best_by_prediction(wanted, what, on)};
    const std::vector<std::string_view> names = tools::split(wanted.algorithm, ',');
    const ucg::schedule::placement where = placement_of(on);
    ucg::schedule::call call;
    call.what = what.what;
    std::vector<const algorithm*> made;
    for (const algorithm& each : ucg::algo::algorithms(what.what)) {
        const bool named = std::ranges::find(names, each.name) != names.end();
        if (wanted.algorithm != "all" && !named) continue;
        if (fits(each, call, shape_of(what, where), wanted.deterministic)) made.push_back(&each);
    }
    return made;
}

// Whether all results were right.
bool run(const options& wanted, collective what, double bytes, const ucg::sim::machine& on,
         sweep& into) {
    const ucg::sim::experiment experiment = experiment_of(wanted, what, bytes);
    const ucg::schedule::placement where = placement_of(on);
    const algorithm& best = best_by_prediction(wanted, experiment, on);
    bool right = true;
    for (const algorithm* by : chosen(wanted, experiment, on)) {
        auto found = measure(on, experiment, *by);
        if (!found.ok()) {
            throw tools::failure(fmt::format("{} of {} bytes: {}", name(what), bytes,
                                             ucs_status_string(found.status())));
        }
        right = right && found->wrong.empty();
        into.add(wanted.groups.size() > 1 ? on.ranks : bytes, by->name, found->seconds,
                 by == &best);
        if (wanted.table && found->wrong.empty()) continue;
        const double predicted = by->cost(shape_of(experiment, where), costs_of(on));
        const std::string steps = steps_text(found->steps, found->weight);
        const result_row line{name(what), by->name, experiment.bytes, predicted, std::move(*found)};
        fmt::print("{}{}", row(line, wanted.csv), wanted.csv ? "" : steps);
        std::fflush(stdout);
    }
    return right;
}

void save(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
    if (file == nullptr || std::fclose(file) != 0 || !written)
        throw tools::failure(fmt::format("cannot write {}", path));
}

std::string title_of(const options& wanted, collective what) {
    const std::string size = wanted.sizes.size() == 1 || wanted.groups.size() > 1
                                 ? fmt::format(", {:.0f} bytes", wanted.sizes.front())
                                 : "";
    const std::string ranks =
        wanted.groups.size() == 1 ? fmt::format(", {} ranks", wanted.groups.front()) : "";
    return fmt::format("{}{}{}, {} ranks to a node", name(what), ranks, size,
                       wanted.on.ranks_per_node);
}

bool run_all(const options& wanted) {
    bool right = true;
    const bool over_ranks = wanted.groups.size() > 1;
    if (!wanted.table) fmt::print("{}", header(machine_of(wanted, wanted.groups[0]), wanted.csv));
    for (const collective what : wanted.collectives) {
        sweep all(over_ranks);
        for (const auto ranks : wanted.groups) {
            const ucg::sim::machine on = machine_of(wanted, ranks);
            for (const double bytes : wanted.sizes) {
                right = run(wanted, what, bytes, on, all) && right;
                if (what == collective::barrier || over_ranks) break;
            }
        }
        if (wanted.table) fmt::print("{}:\n\n{}\n", title_of(wanted, what), all.table());
        if (!wanted.svg.empty()) save(wanted.svg, svg_text(all.figure(title_of(wanted, what))));
    }
    return right;
}

void check_algorithm(const options& wanted) {
    if (wanted.algorithm == "all" || wanted.algorithm == "auto") return;
    for (const std::string_view each : tools::split(wanted.algorithm, ',')) {
        const bool known = std::ranges::any_of(wanted.collectives, [&](collective what) {
            return ucg::algo::find(what, each) != nullptr;
        });
        if (known) continue;
        throw tools::usage_error(
            fmt::format("-a: there is no algorithm \"{}\" (-l lists them)", each));
    }
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
