#include "tools/ucg_sim/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"

namespace tools::ucg_sim {
namespace {

using namespace ucg::schedule;

constexpr rank_t max_ranks = 16384;
constexpr rank_t max_exchanging = 2048;  // each rank has tables with an entry for each rank
constexpr double max_real = std::numeric_limits<double>::max();

double parse_time(std::string_view text) {
    return real{0, max_real, "a number from 0"}(text);
}

// GB/s as bytes per second.
double parse_rate(std::string_view text) {
    const real gigabytes{1e-9, max_real, "a rate above 0"};
    return 1e9 * gigabytes(text);
}

// "8,8,4": the number of ranks of each node.
std::vector<rank_t> parse_node_sizes(std::string_view text) {
    std::vector<rank_t> made;
    std::uint64_t sum = 0;
    for (const std::string_view piece : split(text, ',')) {
        made.push_back(static_cast<rank_t>(number{1, max_ranks - sum}(piece)));
        sum += made.back();
    }
    return made;
}

std::vector<std::string_view> work_names() {
    std::vector<std::string_view> names{"all", "moe"};
    for (std::size_t i = 0; i < collective_count; ++i)
        names.emplace_back(name(static_cast<collective>(i)));
    for (std::size_t i = 0; i < ucg::sim::exchange_count; ++i)
        names.emplace_back(name(static_cast<ucg::sim::exchange>(i)));
    return names;
}

// Adds the enumerators that the text names, by their own name or by that of all.
template<class Enum>
void set_named(std::vector<Enum>& into, std::string_view text, std::string_view all,
               std::size_t count) {
    into.clear();
    for (std::size_t i = 0; i < count; ++i)
        if (text == all || text == name(static_cast<Enum>(i))) into.push_back(static_cast<Enum>(i));
}

// Sets the collectives or exchanges that -c names.
void set_work(options& into, std::string_view text) {
    set_named(into.collectives, text, "all", collective_count);
    set_named(into.exchanges, text, "moe", ucg::sim::exchange_count);
    if (into.collectives.empty() && into.exchanges.empty()) {
        throw usage_error(fmt::format("collective {}", none_of(text, work_names())));
    }
}

void set_nodes(options& into, std::string_view text) {
    into.cyclic = text == "cyclic";
    if (!into.cyclic) into.node_sizes = parse_node_sizes(text);
}

struct part {
    double& into;
    double (*parse)(std::string_view);
};

// "latency:bandwidth:...". Parts that are empty or left out at the end keep their value.
void set_parts(std::string_view text, std::initializer_list<part> known) {
    const auto parts = split(text, ':');
    if (parts.size() > known.size()) {
        throw usage_error(fmt::format("\"{}\" has more than {} parts", text, known.size()));
    }
    const part* each = known.begin();
    for (const std::string_view given : parts) {
        if (!given.empty()) each->into = each->parse(given);
        ++each;
    }
}

void set_link(ucg::sim::link_parameters& link, std::string_view text) {
    set_parts(text, {{link.latency, parse_time},
                     {link.bandwidth, parse_rate},
                     {link.send_overhead, parse_time},
                     {link.receive_overhead, parse_time},
                     {link.gap, parse_time}});
}

option_row link_row(std::string_view label, ucg::sim::link_parameters& into,
                    std::string_view help) {
    return {label, help, [&into](std::string_view text) { set_link(into, text); }};
}

// Converts the numbers of a list.
template<class Value>
auto list_of(number_list parser) {
    return [parser = std::move(parser)](std::string_view text) {
        const auto numbers = parser(text);
        return std::vector<Value>(numbers.begin(), numbers.end());
    };
}

std::vector<option_row> rows_of(options& into) {
    const number ranks{1, max_ranks};
    return {
        help_line(R"(usage: ucg_sim [options]
Runs collectives in virtual time on a described machine, with the code of the real collectives,
and checks every result.
)"),
        {"-c NAME",
         "the collective, or all (allreduce); or moe_notify, moe_dispatch, moe_combine, of low "
         "latency moe_ll_dispatch, moe_ll_combine, or moe for these five",
         [&into](std::string_view text) { set_work(into, text); }},
        value("-a NAMES", into.algorithm, any_text{},
              "algorithms, \"ring,hierarchical\", or routes of moe, \"direct,relayed\"; or all of "
              "them; or auto, the one with the shortest predicted time (all)"),
        value("-s SIZES", into.sizes, list_of<double>({byte_size{}, '-', 2}),
              "bytes; of one block if each rank has a block for each rank: \"8,64k\", \"8-1m\" for "
              "doublings; moe: of a token's row"),
        value("-T, --tokens COUNT", into.moe.tokens, number{1, 1U << 20U},
              "tokens of each rank, for moe (128)"),
        value("-K, --topk COUNT", into.moe.k, number{1, 1024},
              "random experts that each token chooses (8)"),
        value("-E, --experts COUNT", into.moe.experts, number{1, 4096}, "experts of each rank (8)"),
        value("-n COUNTS", into.groups, list_of<rank_t>({ranks, '-', 2}),
              "ranks, up to 16384: \"64\", \"16-4096\" for doublings (64)"),
        value("-p COUNT", into.on.ranks_per_node, ranks, "ranks on a node (1)"),
        {"-N, --nodes SIZES",
         "ranks of each node, \"8,8,4\", instead of -n and -p; or \"cyclic\", which puts "
         "consecutive ranks on different nodes",
         [&into](std::string_view text) { set_nodes(into, text); }},
        value("-L, --leaders COUNT", into.cutting.leaders, ranks,
              "the most ranks of a node that take part in traffic between nodes (all)"),
        value("-r RANK", into.root, number{0, max_ranks - 1}, "the root (0)"),
        flag("-D", into.deterministic,
             "only algorithms that give the same bits however the data is cut"),
        flag("-l, --list", into.list, "lists collectives and their algorithms"),
        csv_option("-v, --csv", into.standard),
        json_option(into.standard),
        flag("-t, --table", into.table,
             "one line for each size (or number of ranks), one column for each algorithm"),
        value("-G, --svg FILE", into.svg, any_text{}, "a plot of the same"),
        flag("-k, --steps", into.steps,
             "the steps of the critical path, those that repeat in one line"),
        flag("-P, --ports", into.ports,
             "bytes that passed the port of each node; nodes with equal traffic share a line"),
        help_option(into.standard),
        version_option(into.standard,
                       "the version of this program, which holds the collectives itself"),
        help_line(R"(
The machine. A link is LATENCY:BANDWIDTH:SEND:RECEIVE:GAP, in ns and GB/s: SEND and RECEIVE are
processor time of a message, GAP is the least time between two messages in a port. An empty part
keeps its default.)"),
        link_row("-i LINK", into.on.inside, "inside a node (300:20:100:100:0)"),
        link_row("-e LINK", into.on.between,
                 "between nodes, one port for each node (1500:12.5:250:250:0)"),
        {"-f TIMES",
         "collectives of a node: FLAG:LOOK, ns until a rank sees a write of another rank, and for "
         "polling one more rank (200:30)",
         [&into](std::string_view text) {
             set_parts(text, {{into.on.flag, parse_time}, {into.on.flag_read, parse_time}});
         }},
        value("-R GB/S", into.on.reduce_rate, parse_rate,
              "reducing two sources into a result (20)"),
        value("-C GB/S", into.on.copy_rate, parse_rate, "copying (20)"),
        value("-g SIZE", into.cutting.segment, byte_size{},
              "segments that algorithms cut their data into (128k)"),
        {"-d NS", "largest random delay of messages and at the start (0)",
         [&into](std::string_view text) {
             into.on.max_delay = into.on.max_skew = parse_time(text);
         }},
        value("-S SEED", into.on.seed, number{0, ~std::uint64_t{0}},
              "seed of the random delays (1)"),
        value("-m COUNT", into.carried, number{1, std::uint64_t{1} << 32U},
              "the most elements of 4 bytes of a vector that a rank holds in memory; for the rest "
              "only time is charged (4096)"),
    };
}

}  // namespace

ucg::sim::machine machine_of(const options& opts, rank_t ranks) {
    ucg::sim::machine made = opts.on;
    made.ranks = ranks;
    made.trace = opts.steps;
    const rank_t nodes = (ranks + made.ranks_per_node - 1) / made.ranks_per_node;
    for (rank_t rank = 0; opts.cyclic && rank < ranks; ++rank)
        made.nodes.push_back(rank % nodes);
    for (std::size_t node = 0; node < opts.node_sizes.size(); ++node)
        made.nodes.insert(made.nodes.end(), opts.node_sizes[node], node);
    return made;
}

options parse_options(std::span<const std::string> words) {
    options opts;
    opts.arguments.assign(words.begin(), words.end());
    parse_options_only(rows_of(opts), words);
    if (opts.standard.only_text()) return opts;
    if (opts.table && opts.standard.form != output_form::text)
        throw usage_error("--table excludes --csv and --json");
    if (!opts.node_sizes.empty()) {
        opts.groups = {std::accumulate(opts.node_sizes.begin(), opts.node_sizes.end(), rank_t{0})};
    }
    opts.on.ranks = opts.groups.front();
    const rank_t most = *std::ranges::max_element(opts.groups);
    const rank_t least = *std::ranges::min_element(opts.groups);
    if (!opts.exchanges.empty() && most > max_exchanging)
        throw usage_error(fmt::format("-n: moe is simulated up to {} ranks", max_exchanging));
    if (!opts.exchanges.empty() && opts.moe.k > std::uint64_t{least} * opts.moe.experts)
        throw usage_error("-K: there are fewer experts than a token is to choose");
    if (opts.root >= least) throw usage_error("-r: there is no such rank");
    return opts;
}

std::string help_text() {
    options none;
    return help(rows_of(none));
}

}  // namespace tools::ucg_sim
