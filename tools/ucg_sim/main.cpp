// ucg_sim: simulates collectives on a described machine, in virtual time.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tools/common/failure.hpp"
#include "tools/common/json_report.hpp"
#include "tools/common/text.hpp"
#include "tools/ucg_sim/options.hpp"
#include "tools/ucg_sim/report.hpp"
#include "tools/ucg_sim/sweep.hpp"
#include "ucg/algo/table.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace {

using namespace tools::ucg_sim;
using namespace ucg::schedule;

struct named_route {
    std::string_view name;
    ucg::moe::route route;
};
constexpr named_route routes[] = {{"direct", ucg::moe::route::direct},
                                  {"relayed", ucg::moe::route::relayed}};

// Prints each result when it is measured; with --json the whole document at the end.
class printer {
public:
    explicit printer(const options& opts) : opts_(opts) {
        const ucg::sim::machine first = machine_of(opts, opts.groups.front());
        if (opts.standard.form == tools::output_form::json) {
            json_.emplace(tools::run_conditions{"ucg_sim", opts.arguments, {}},
                          [&first](tools::json_writer& into) { write_settings(into, first); });
        } else if (!opts.table) {
            fmt::print("{}", header(first, csv()));
        }
    }
    // `below`: lines that follow the row in text output.
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
        return opts_.standard.form == tools::output_form::csv;
    }

    const options& opts_;
    std::optional<tools::json_report> json_;
};

std::span<const named_route> routes_of(ucg::sim::exchange kind) {
    return std::span(routes).first(is_low_latency(kind) ? 1 : std::size(routes));
}

// The engine of a node is simulated as a part of hierarchical algorithms only.
bool sends_messages(const algorithm& row) {
    return !has(row.needs, ucg::schedule::condition::engine);
}

void list() {
    for (std::size_t i = 0; i < ucg::schedule::collective_count; ++i) {
        const auto kind = static_cast<collective>(i);
        fmt::print("{:<20}", name(kind));
        for (const algorithm& each : ucg::algo::algorithms(kind))
            if (sends_messages(each)) fmt::print(" {}", each.name);
        fmt::print("\n");
    }
    for (std::size_t i = 0; i < ucg::sim::exchange_count; ++i) {
        const auto kind = static_cast<ucg::sim::exchange>(i);
        fmt::print("{:<20}", name(kind));
        for (const named_route& each : routes_of(kind))
            fmt::print(" {}", each.name);
        fmt::print("\n");
    }
}

ucg::sim::experiment experiment_of(const options& opts, collective kind, double bytes) {
    ucg::sim::experiment made;
    made.kind = kind;
    made.bytes = kind == collective::barrier ? 0 : bytes;
    made.root = opts.root;
    made.sizes = opts.cutting;
    made.carried = opts.carried;
    return made;
}

const algorithm& best_by_prediction(const options& opts, const ucg::sim::experiment& experiment,
                                    const ucg::sim::machine& on) {
    ucg::schedule::call call;
    call.kind = experiment.kind;
    const ucg::schedule::placement placement = placement_of(on);
    return ucg::algo::choose(call, shape_of(experiment, placement), costs_of(on),
                             opts.deterministic);
}

// Returns the algorithms that -a names and that can serve the collective.
std::vector<const algorithm*> chosen(const options& opts, const ucg::sim::experiment& experiment,
                                     const ucg::sim::machine& on) {
    if (opts.algorithm == "auto") return {&best_by_prediction(opts, experiment, on)};
    const std::vector<std::string_view> names = tools::split(opts.algorithm, ',');
    const ucg::schedule::placement placement = placement_of(on);
    ucg::schedule::call call;
    call.kind = experiment.kind;
    std::vector<const algorithm*> made;
    for (const algorithm& each : ucg::algo::algorithms(experiment.kind)) {
        const bool named = std::ranges::find(names, each.name) != names.end();
        if (opts.algorithm != "all" && !named) continue;
        if (can_run(each, call, shape_of(experiment, placement), opts.deterministic))
            made.push_back(&each);
    }
    return made;
}

// Returns the lines that are printed below a row.
std::string details(const options& opts, const ucg::sim::outcome& found) {
    return (opts.ports ? ports_text(found.nodes) : "") + steps_text(found.steps);
}

// Simulates a collective by each selected algorithm. Returns whether all results were right.
bool run(const options& opts, collective kind, double bytes, const ucg::sim::machine& on,
         sweep& into, printer& out) {
    const ucg::sim::experiment experiment = experiment_of(opts, kind, bytes);
    const ucg::schedule::placement placement = placement_of(on);
    const algorithm& best = best_by_prediction(opts, experiment, on);
    bool correct = true;
    const std::vector<const algorithm*> all = chosen(opts, experiment, on);
    if (all.empty() && bytes == opts.sizes.front())
        fmt::print(stderr, "ucg_sim: {} of {} ranks, {} nodes: none of -a {} can serve it\n",
                   name(kind), on.ranks, placement.nodes(), opts.algorithm);
    for (const algorithm* candidate : all) {
        auto found = measure(on, experiment, *candidate);
        if (!found.ok()) {
            throw tools::failure(fmt::format("{} of {} bytes: {}", name(kind), bytes,
                                             ucs_status_string(found.status())));
        }
        correct = correct && found->wrong.empty();
        into.add(opts.groups.size() > 1 ? on.ranks : bytes, candidate->name, found->seconds,
                 candidate == &best);
        if (opts.table && found->wrong.empty()) continue;
        const double predicted = candidate->cost(shape_of(experiment, placement), costs_of(on));
        const std::string more = details(opts, *found);
        const result_row line{name(kind), candidate->name, experiment.bytes, predicted,
                              std::move(*found)};
        out.add(line, more, on);
    }
    return correct;
}

// Simulates an MoE exchange by each route that -a names. Returns whether all results were right.
bool run(const options& opts, ucg::sim::exchange kind, double bytes, const ucg::sim::machine& on,
         sweep& into, printer& out) {
    ucg::sim::moe_experiment experiment = opts.moe;
    experiment.kind = kind;
    experiment.row_bytes = bytes;
    const std::span<const named_route> all_routes = routes_of(kind);
    std::vector<named_route> chosen(all_routes.begin(), all_routes.end());
    if (opts.algorithm == "auto" && chosen.size() > 1) chosen = {{"auto", ucg::moe::route::choose}};
    const std::vector<std::string_view> names = tools::split(opts.algorithm, ',');
    if (opts.algorithm != "all" && opts.algorithm != "auto")
        std::erase_if(chosen, [&](const named_route& each) {
            return std::ranges::find(names, each.name) == names.end();
        });
    if (chosen.empty() && bytes == opts.sizes.front())
        fmt::print(stderr, "ucg_sim: {}: none of -a {} can serve it\n", name(kind), opts.algorithm);
    std::vector<ucg::sim::moe_outcome> all;
    for (const named_route& each : chosen) {
        experiment.route = each.route;
        auto found = measure(on, experiment);
        if (!found.ok())
            throw tools::failure(fmt::format("{} of rows of {} bytes: {}", name(kind), bytes,
                                             ucs_status_string(found.status())));
        all.push_back(*std::move(found));
    }
    const auto best = std::ranges::min_element(all, {}, &ucg::sim::moe_outcome::predicted);
    bool correct = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        ucg::sim::outcome& found = all[i].outcome;
        correct = correct && found.wrong.empty();
        into.add(opts.groups.size() > 1 ? on.ranks : bytes, std::string(chosen[i].name),
                 found.seconds, &all[i] == &*best);
        if (opts.table && found.wrong.empty()) continue;
        const std::string more = details(opts, found);
        const result_row line{name(kind), chosen[i].name, bytes, all[i].predicted,
                              std::move(found)};
        out.add(line, more, on);
    }
    return correct;
}

void save(const std::string& path, const std::string& text) {
    const std::string reason = ucs::sys::write_named_file(path, text);
    if (!reason.empty()) throw tools::failure(fmt::format("cannot write {}: {}", path, reason));
}

std::string title_of(const options& opts, std::string_view work) {
    const std::string size = opts.sizes.size() == 1 || opts.groups.size() > 1
                                 ? fmt::format(", {:.0f} bytes", opts.sizes.front())
                                 : "";
    const std::string ranks =
        opts.groups.size() == 1 ? fmt::format(", {} ranks", opts.groups.front()) : "";
    return fmt::format("{}{}{}, {} ranks to a node", work, ranks, size, opts.on.ranks_per_node);
}

// Simulates a collective or an MoE exchange for all sizes, or for all numbers of ranks.
template<class What>
bool run_over_all(const options& opts, What kind, bool one_size, printer& out) {
    bool correct = true;
    const bool over_ranks = opts.groups.size() > 1;
    sweep all(over_ranks);
    for (const auto ranks : opts.groups) {
        const ucg::sim::machine on = machine_of(opts, ranks);
        for (const double bytes : opts.sizes) {
            correct = run(opts, kind, bytes, on, all, out) && correct;
            if (one_size || over_ranks) break;
        }
    }
    const std::string title = title_of(opts, name(kind));
    if (opts.table) fmt::print("{}:\n\n{}\n", title, all.table());
    if (!opts.svg.empty()) save(opts.svg, svg_text(all.figure(title)));
    return correct;
}

bool run_each(const options& opts, printer& out) {
    bool correct = true;
    for (const collective kind : opts.collectives)
        correct = run_over_all(opts, kind, kind == collective::barrier, out) && correct;
    for (const ucg::sim::exchange exchange : opts.exchanges)
        correct = run_over_all(opts, exchange, exchange == ucg::sim::exchange::moe_notify, out) &&
                  correct;
    return correct;
}

// Simulates all that -c names. Returns whether all results were right.
bool run_all(const options& opts) {
    printer out(opts);
    try {
        const bool correct = run_each(opts, out);
        out.finish();
        return correct;
    } catch (const std::exception& error) {
        out.finish_after(error.what());
        throw;
    }
}

// Returns the algorithms and routes that -a may name with this -c.
std::vector<std::string_view> names_that_serve(const options& opts) {
    std::vector<std::string_view> names;
    const auto add = [&names](std::string_view name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const collective each : opts.collectives) {
        for (const algorithm& row : ucg::algo::algorithms(each))
            if (sends_messages(row)) add(row.name);
    }
    for (const ucg::sim::exchange each : opts.exchanges) {
        for (const named_route& row : routes_of(each))
            add(row.name);
    }
    return names;
}

void check_algorithm(const options& opts) {
    if (opts.algorithm == "all" || opts.algorithm == "auto") return;
    const std::vector<std::string_view> names = names_that_serve(opts);
    for (const std::string_view each : tools::split(opts.algorithm, ',')) {
        if (std::ranges::find(names, each) != names.end()) continue;
        throw tools::usage_error(fmt::format("-a: algorithm {}", tools::none_of(each, names)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    return tools::run_tool("ucg_sim", [&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options opts = parse_options(words);
        if (!opts.standard.only_text()) check_algorithm(opts);
        if (opts.standard.help)
            fmt::print("{}", help_text());
        else if (opts.standard.version)
            fmt::print("{}", tools::version_text("ucg_sim", {}));
        else if (opts.list)
            list();
        else if (!run_all(opts))
            return tools::exit_failure;
        return EXIT_SUCCESS;
    });
}
