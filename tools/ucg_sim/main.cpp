// ucg_sim: collectives on a described machine, in virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/common/failure.hpp"
#include "tools/common/json_report.hpp"
#include "tools/common/nearest.hpp"
#include "tools/common/text.hpp"
#include "tools/common/version.hpp"
#include "tools/ucg_sim/options.hpp"
#include "tools/ucg_sim/ports.hpp"
#include "tools/ucg_sim/report.hpp"
#include "tools/ucg_sim/steps.hpp"
#include "tools/ucg_sim/svg.hpp"
#include "tools/ucg_sim/sweep.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/sim/experiment.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace {

using namespace tools::ucg_sim;
using ucg::schedule::algorithm;
using ucg::schedule::collective;

struct named_route {
    std::string_view name;
    ucg::moe::route by;
};
constexpr named_route routes[] = {{"direct", ucg::moe::route::direct},
                                  {"relayed", ucg::moe::route::relayed}};

// Prints each result as it is found; for --json the whole document at the end.
class printer {
public:
    explicit printer(const options& wanted) : wanted_(wanted) {
        const ucg::sim::machine first = machine_of(wanted, wanted.groups.front());
        if (wanted.standard.form == tools::output_form::json) {
            json_.emplace(tools::run_conditions{"ucg_sim", wanted.arguments, {}},
                          [&first](tools::json_writer& into) { write_settings(into, first); });
        } else if (!wanted.table) {
            fmt::print("{}", header(first, csv()));
        }
    }
    // `below` are lines for people that follow the row.
    void add(const result_row& line, const std::string& below, const ucg::sim::machine& on) {
        if (json_) {
            json_->add_row([&](tools::json_writer& into) { write_row(into, line, on); });
            return;
        }
        fmt::print("{}{}", row(line, csv()), csv() ? "" : below);
        std::fflush(stdout);
    }
    void finish() {
        if (json_) fmt::print("{}", json_->finish());
    }
    void finish_after(std::string_view error) {
        if (json_) fmt::print("{}", json_->finish_after(error));
    }

private:
    [[nodiscard]] bool csv() const noexcept {
        return wanted_.standard.form == tools::output_form::csv;
    }

    const options& wanted_;
    std::optional<tools::json_report> json_;
};

std::span<const named_route> routes_of(ucg::sim::exchange what) {
    return std::span(routes).first(is_low_latency(what) ? 1 : std::size(routes));
}

void list() {
    for (std::size_t i = 0; i < ucg::schedule::collective_count; ++i) {
        const auto what = static_cast<collective>(i);
        fmt::print("{:<20}", name(what));
        for (const algorithm& each : ucg::algo::algorithms(what))
            fmt::print(" {}", each.name);
        fmt::print("\n");
    }
    for (std::size_t i = 0; i < ucg::sim::exchange_count; ++i) {
        const auto what = static_cast<ucg::sim::exchange>(i);
        fmt::print("{:<20}", name(what));
        for (const named_route& each : routes_of(what))
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

// What is printed below a row.
std::string details(const options& wanted, const ucg::sim::outcome& found) {
    return (wanted.ports ? ports_text(found.nodes) : "") + steps_text(found.steps);
}

// Whether all results were right.
bool run(const options& wanted, collective what, double bytes, const ucg::sim::machine& on,
         sweep& into, printer& out) {
    const ucg::sim::experiment experiment = experiment_of(wanted, what, bytes);
    const ucg::schedule::placement where = placement_of(on);
    const algorithm& best = best_by_prediction(wanted, experiment, on);
    bool right = true;
    const std::vector<const algorithm*> all = chosen(wanted, experiment, on);
    if (all.empty() && bytes == wanted.sizes.front())
        fmt::print(stderr, "ucg_sim: {} of {} ranks, {} nodes: none of -a {} can serve it\n",
                   name(what), on.ranks, where.nodes(), wanted.algorithm);
    for (const algorithm* by : all) {
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
        const std::string more = details(wanted, *found);
        const result_row line{name(what), by->name, experiment.bytes, predicted, std::move(*found)};
        out.add(line, more, on);
    }
    return right;
}

// The same of an exchange, by the routes that -a names.
bool run(const options& wanted, ucg::sim::exchange what, double bytes, const ucg::sim::machine& on,
         sweep& into, printer& out) {
    ucg::sim::moe_experiment experiment = wanted.moe;
    experiment.what = what;
    experiment.row_bytes = bytes;
    const std::span<const named_route> all_routes = routes_of(what);
    std::vector<named_route> chosen(all_routes.begin(), all_routes.end());
    if (wanted.algorithm == "auto" && chosen.size() > 1)
        chosen = {{"auto", ucg::moe::route::choose}};
    const std::vector<std::string_view> names = tools::split(wanted.algorithm, ',');
    if (wanted.algorithm != "all" && wanted.algorithm != "auto")
        std::erase_if(chosen, [&](const named_route& each) {
            return std::ranges::find(names, each.name) == names.end();
        });
    if (chosen.empty() && bytes == wanted.sizes.front())
        fmt::print(stderr, "ucg_sim: {}: none of -a {} can serve it\n", name(what),
                   wanted.algorithm);
    std::vector<ucg::sim::moe_outcome> all;
    for (const named_route& each : chosen) {
        experiment.how = each.by;
        auto found = measure(on, experiment);
        if (!found.ok())
            throw tools::failure(fmt::format("{} of rows of {} bytes: {}", name(what), bytes,
                                             ucs_status_string(found.status())));
        all.push_back(*std::move(found));
    }
    const auto best = std::ranges::min_element(all, {}, &ucg::sim::moe_outcome::predicted);
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        ucg::sim::outcome& found = all[i].found;
        right = right && found.wrong.empty();
        into.add(wanted.groups.size() > 1 ? on.ranks : bytes, std::string(chosen[i].name),
                 found.seconds, &all[i] == &*best);
        if (wanted.table && found.wrong.empty()) continue;
        const std::string more = details(wanted, found);
        const result_row line{name(what), chosen[i].name, bytes, all[i].predicted,
                              std::move(found)};
        out.add(line, more, on);
    }
    return right;
}

void save(const std::string& path, const std::string& text) {
    const std::string why_not = ucs::sys::write_named_file(path, text);
    if (!why_not.empty()) throw tools::failure(fmt::format("cannot write {}: {}", path, why_not));
}

std::string title_of(const options& wanted, std::string_view what) {
    const std::string size = wanted.sizes.size() == 1 || wanted.groups.size() > 1
                                 ? fmt::format(", {:.0f} bytes", wanted.sizes.front())
                                 : "";
    const std::string ranks =
        wanted.groups.size() == 1 ? fmt::format(", {} ranks", wanted.groups.front()) : "";
    return fmt::format("{}{}{}, {} ranks to a node", what, ranks, size, wanted.on.ranks_per_node);
}

// A collective or an exchange, of all sizes or on all numbers of ranks.
template<class What>
bool run_over_all(const options& wanted, What what, bool one_size, printer& out) {
    bool right = true;
    const bool over_ranks = wanted.groups.size() > 1;
    sweep all(over_ranks);
    for (const auto ranks : wanted.groups) {
        const ucg::sim::machine on = machine_of(wanted, ranks);
        for (const double bytes : wanted.sizes) {
            right = run(wanted, what, bytes, on, all, out) && right;
            if (one_size || over_ranks) break;
        }
    }
    const std::string title = title_of(wanted, name(what));
    if (wanted.table) fmt::print("{}:\n\n{}\n", title, all.table());
    if (!wanted.svg.empty()) save(wanted.svg, svg_text(all.figure(title)));
    return right;
}

bool run_each(const options& wanted, printer& out) {
    bool right = true;
    for (const collective what : wanted.collectives)
        right = run_over_all(wanted, what, what == collective::barrier, out) && right;
    for (const ucg::sim::exchange what : wanted.exchanges)
        right = run_over_all(wanted, what, what == ucg::sim::exchange::moe_notify, out) && right;
    return right;
}

// Whether all results were right.
bool run_all(const options& wanted) {
    printer out(wanted);
    try {
        const bool right = run_each(wanted, out);
        out.finish();
        return right;
    } catch (const std::exception& error) {
        out.finish_after(error.what());
        throw;
    }
}

// The algorithms and routes that -a may name with this -c.
std::vector<std::string_view> names_that_serve(const options& wanted) {
    std::vector<std::string_view> names;
    const auto add = [&names](std::string_view name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const collective each : wanted.collectives) {
        for (const algorithm& row : ucg::algo::algorithms(each))
            add(row.name);
    }
    for (const ucg::sim::exchange each : wanted.exchanges) {
        for (const named_route& row : routes_of(each))
            add(row.name);
    }
    return names;
}

void check_algorithm(const options& wanted) {
    if (wanted.algorithm == "all" || wanted.algorithm == "auto") return;
    const std::vector<std::string_view> names = names_that_serve(wanted);
    for (const std::string_view each : tools::split(wanted.algorithm, ',')) {
        if (std::ranges::find(names, each) != names.end()) continue;
        throw tools::usage_error(fmt::format("-a: algorithm {}", tools::none_of(each, names)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options wanted = parse_options(words);
        if (!wanted.standard.only_text()) check_algorithm(wanted);
        if (wanted.standard.help)
            fmt::print("{}", help_text());
        else if (wanted.standard.version)
            fmt::print("{}", tools::version_text("ucg_sim", {}));
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
