#include "tools/ucg_sim/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tools/common/failure.hpp"
#include "tools/common/nearest.hpp"
#include "tools/common/option_scanner.hpp"
#include "tools/common/text.hpp"

namespace tools::ucg_sim {
namespace {

using ucg::schedule::collective;
using ucg::schedule::collective_count;

constexpr ucg::schedule::rank_t max_ranks = 16384;
constexpr ucg::schedule::rank_t max_exchanging =
    2048;  // each rank has tables with an entry for each rank

std::uint64_t count_of(char letter, const std::string& text, std::uint64_t least,
                       std::uint64_t most) {
    const auto value = parse_count(text);
    if (!value || *value < least || *value > most) {
        throw usage_error(
            fmt::format("-{}: \"{}\" is not a number from {} to {}", letter, text, least, most));
    }
    return *value;
}

double positive(char letter, std::string_view text) {
    const auto value = parse_real(text);
    if (!value || *value < 0) {
        throw usage_error(fmt::format("-{}: \"{}\" is not a number from 0", letter, text));
    }
    return *value;
}

double rate(char letter, std::string_view text) {
    const double gigabytes = positive(letter, text);
    if (gigabytes <= 0) throw usage_error(fmt::format("-{}: a rate must be above 0", letter));
    return gigabytes * 1e9;
}

double size_in_bytes(std::string_view text) {
    const auto value = parse_size(text);
    if (!value || *value > (std::uint64_t{1} << 40U)) {
        throw usage_error(fmt::format("-s: \"{}\" is not a size up to 1t", text));
    }
    return static_cast<double>(*value);
}

// "8,64k" and ranges by doubling, "8-1m".
std::vector<double> sizes_of(const std::string& text) {
    std::vector<double> made;
    for (const std::string_view piece : split(text, ',')) {
        const auto ends = split(piece, '-');
        if (ends.size() > 2) {
            throw usage_error(fmt::format("-s: \"{}\" is neither a size nor a range", piece));
        }
        const double last = size_in_bytes(ends.back());
        const double first = size_in_bytes(ends.front());
        if (ends.size() == 2 && (first < 1 || first > last)) {
            throw usage_error(fmt::format("-s: the range \"{}\" is empty", piece));
        }
        for (double size = first; size <= last; size *= 2) {
            made.push_back(size);
            if (ends.size() == 1) break;
        }
    }
    return made;
}

// "64,512" and ranges by doubling, "16-4096".
std::vector<ucg::schedule::rank_t> groups_of(const std::string& text) {
    std::vector<ucg::schedule::rank_t> made;
    for (const std::string_view piece : split(text, ',')) {
        const auto ends = split(piece, '-');
        const std::uint64_t first = count_of('n', std::string(ends.front()), 1, max_ranks);
        const std::uint64_t last = count_of('n', std::string(ends.back()), first, max_ranks);
        if (ends.size() > 2) throw usage_error(fmt::format("-n: \"{}\" is not a range", piece));
        for (std::uint64_t ranks = first; ranks <= last; ranks *= 2)
            made.push_back(static_cast<ucg::schedule::rank_t>(ranks));
    }
    return made;
}

// "8,8,4": the number of ranks of each node.
std::vector<ucg::schedule::rank_t> node_sizes_of(const std::string& text) {
    std::vector<ucg::schedule::rank_t> made;
    std::uint64_t sum = 0;
    for (const std::string_view piece : split(text, ',')) {
        made.push_back(static_cast<ucg::schedule::rank_t>(
            count_of('N', std::string(piece), 1, max_ranks - sum)));
        sum += made.back();
    }
    return made;
}

std::vector<collective> collectives_of(const std::string& text) {
    std::vector<collective> made;
    for (std::size_t i = 0; i < collective_count; ++i)
        if (text == "all" || text == name(static_cast<collective>(i)))
            made.push_back(static_cast<collective>(i));
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

// Sets the collectives or exchanges that -c names.
void set_work(const std::string& text, options& into) {
    into.collectives = collectives_of(text);
    into.exchanges.clear();
    for (std::size_t i = 0; i < ucg::sim::exchange_count; ++i)
        if (text == "moe" || text == name(static_cast<ucg::sim::exchange>(i)))
            into.exchanges.push_back(static_cast<ucg::sim::exchange>(i));
    if (into.collectives.empty() && into.exchanges.empty()) {
        throw usage_error(fmt::format("-c: collective {}", none_of(text, work_names())));
    }
}

// "flag:look"
void change_node(const std::string& text, ucg::sim::machine& on) {
    const auto parts = split(text, ':');
    if (parts.size() > 2)
        throw usage_error(fmt::format("-f: \"{}\" has more than two parts", text));
    if (!parts[0].empty()) on.flag = positive('f', parts[0]);
    if (parts.size() == 2 && !parts[1].empty()) on.flag_read = positive('f', parts[1]);
}

// "latency:bandwidth:send:receive:gap". Parts that are empty or left out at the end keep their
// value.
void change_link(char letter, const std::string& text, ucg::sim::link_parameters& link) {
    const auto parts = split(text, ':');
    if (parts.size() > 5) {
        throw usage_error(fmt::format("-{}: \"{}\" has more than five parts", letter, text));
    }
    double* const times[] = {&link.latency, nullptr, &link.send_overhead, &link.receive_overhead,
                             &link.gap};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].empty()) continue;
        if (times[i] == nullptr)
            link.bandwidth = rate(letter, parts[i]);
        else
            *times[i] = positive(letter, parts[i]);
    }
}

void take(options& into, const found_option& found) {
    const std::string& text = found.value;
    switch (found.letter) {
        case 'c':
            set_work(text, into);
            break;
        case 'a':
            into.algorithm = text;
            break;
        case 'n':
            into.groups = groups_of(text);
            break;
        case 'p':
            into.on.ranks_per_node =
                static_cast<ucg::schedule::rank_t>(count_of('p', text, 1, max_ranks));
            break;
        case 'N':
            into.cyclic = text == "cyclic";
            if (!into.cyclic) into.node_sizes = node_sizes_of(text);
            break;
        case 'L':
            into.cutting.leaders =
                static_cast<ucg::schedule::rank_t>(count_of('L', text, 1, max_ranks));
            break;
        case 'f':
            change_node(text, into.on);
            break;
        case 't':
            into.table = true;
            break;
        case 'k':
            into.steps = true;
            break;
        case 'P':
            into.ports = true;
            break;
        case 'G':
            into.svg = text;
            break;
        case 's':
            into.sizes = sizes_of(text);
            break;
        case 'T':
            into.moe.tokens = static_cast<std::uint32_t>(count_of('T', text, 1, 1U << 20U));
            break;
        case 'K':
            into.moe.k = static_cast<std::uint32_t>(count_of('K', text, 1, 1024));
            break;
        case 'E':
            into.moe.experts = static_cast<std::uint32_t>(count_of('E', text, 1, 4096));
            break;
        case 'r':
            into.root = static_cast<ucg::schedule::rank_t>(count_of('r', text, 0, max_ranks - 1));
            break;
        case 'i':
            change_link('i', text, into.on.inside);
            break;
        case 'e':
            change_link('e', text, into.on.between);
            break;
        case 'R':
            into.on.reduce_rate = rate('R', text);
            break;
        case 'C':
            into.on.copy_rate = rate('C', text);
            break;
        case 'g':
            into.cutting.segment = static_cast<std::size_t>(size_in_bytes(text));
            break;
        case 'm':
            into.carried = count_of('m', text, 1, std::uint64_t{1} << 32U);
            break;
        case 'd':
            into.on.max_delay = into.on.max_skew = positive('d', text);
            break;
        case 'S':
            into.on.seed = count_of('S', text, 0, ~std::uint64_t{0});
            break;
        case 'D':
            into.deterministic = true;
            break;
        case 'v':
            into.standard.choose(output_form::csv);
            break;
        default:
            into.list = true;
    }
}

option_set known_options() {
    return with_report_options({"DvltkP",
                                "canpsrieRCgmdSNLfGTKE",
                                {{"table", 't'},
                                 {"svg", 'G'},
                                 {"steps", 'k'},
                                 {"ports", 'P'},
                                 {"leaders", 'L'},
                                 {"nodes", 'N'},
                                 {"list", 'l'},
                                 {"tokens", 'T'},
                                 {"topk", 'K'},
                                 {"experts", 'E'}}});
}

}  // namespace

ucg::sim::machine machine_of(const options& opts, ucg::schedule::rank_t ranks) {
    ucg::sim::machine made = opts.on;
    made.ranks = ranks;
    made.trace = opts.steps;
    const ucg::schedule::rank_t nodes = (ranks + made.ranks_per_node - 1) / made.ranks_per_node;
    for (ucg::schedule::rank_t rank = 0; opts.cyclic && rank < ranks; ++rank)
        made.nodes.push_back(rank % nodes);
    for (std::size_t node = 0; node < opts.node_sizes.size(); ++node)
        made.nodes.insert(made.nodes.end(), opts.node_sizes[node], node);
    return made;
}

options parse_options(std::span<const std::string> words) {
    options opts;
    opts.arguments.assign(words.begin(), words.end());
    option_scanner scanner(words, known_options());
    while (const auto found = scanner.next()) {
        if (!opts.standard.take(*found)) take(opts, *found);
        if (opts.standard.only_text()) return opts;
    }
    if (opts.table && opts.standard.form != output_form::text)
        throw usage_error("--table excludes --csv and --json");
    if (!scanner.operands().empty()) {
        throw usage_error(fmt::format("\"{}\" is not an option", scanner.operands().front()));
    }
    if (!opts.node_sizes.empty()) {
        opts.groups = {std::accumulate(opts.node_sizes.begin(), opts.node_sizes.end(),
                                       ucg::schedule::rank_t{0})};
    }
    opts.on.ranks = opts.groups.front();
    const ucg::schedule::rank_t most = *std::ranges::max_element(opts.groups);
    const ucg::schedule::rank_t least = *std::ranges::min_element(opts.groups);
    if (!opts.exchanges.empty() && most > max_exchanging)
        throw usage_error(fmt::format("-n: moe is simulated up to {} ranks", max_exchanging));
    if (!opts.exchanges.empty() && opts.moe.k > std::uint64_t{least} * opts.moe.experts)
        throw usage_error("-K: there are fewer experts than a token is to choose");
    if (opts.root >= least) throw usage_error("-r: there is no such rank");
    return opts;
}

std::string help_text() {
    return R"(usage: ucg_sim [options]
Runs collectives in virtual time on a described machine, with the code of the real collectives,
and checks every result.

  -c NAME     the collective, or all (allreduce); or moe_notify, moe_dispatch, moe_combine, of low
              latency moe_ll_dispatch, moe_ll_combine, or moe for these five
  -a NAMES    algorithms, "ring,hierarchical", or routes of moe, "direct,relayed"; or all of them; or auto,
              the one with the shortest predicted time (all)
  -s SIZES    bytes; of one block if each rank has a block for each rank: "8,64k", "8-1m" for doublings
              moe: of a token's row
  -T COUNT    --tokens: tokens of each rank, for moe (128)
  -K COUNT    --topk: random experts that each token chooses (8)
  -E COUNT    --experts: experts of each rank (8)
  -n COUNTS   ranks, up to 16384: "64", "16-4096" for doublings (64)
  -p COUNT    ranks on a node (1)
  -N SIZES    --nodes: ranks of each node, "8,8,4", instead of -n and -p; or "cyclic", which puts
              consecutive ranks on different nodes
  -L COUNT    --leaders: the most ranks of a node that take part in traffic between nodes (all)
  -r RANK     the root (0)
  -D          only algorithms that give the same bits however the data is cut
  -l          lists collectives and their algorithms
  -v          --csv: comma-separated values
  --json      one JSON document: the conditions of the run (versions, host, settings) and a row for
              each result
  -t          --table: one line for each size (or number of ranks), one column for each algorithm
  -G FILE     --svg: a plot of the same
  -k          --steps: the steps of the critical path, those that repeat in one line
  -P          --ports: bytes that passed the port of each node; nodes with equal traffic share a line
  -h          --help: this text
  --version   the version of this program, which holds the collectives itself

The machine. A link is LATENCY:BANDWIDTH:SEND:RECEIVE:GAP, in ns and GB/s: SEND and RECEIVE are
processor time of a message, GAP is the least time between two messages in a port. An empty part
keeps its default.
  -i LINK     inside a node (300:20:100:100:0)
  -e LINK     between nodes, one port for each node (1500:12.5:250:250:0)
  -f TIMES    collectives of a node: FLAG:LOOK, ns until a rank sees a write of another rank, and
              for polling one more rank (200:30)
  -R GB/S     reducing two sources into a result (20)
  -C GB/S     copying (20)
  -g SIZE     segments that algorithms cut their data into (128k)
  -d NS       largest random delay of messages and at the start (0)
  -S SEED     seed of the random delays (1)
  -m COUNT    the most elements of 4 bytes of a vector that a rank holds in memory; for the rest only
              time is charged (4096)
)";
}

}  // namespace tools::ucg_sim
