#include "tools/ucg_perf/options.hpp"

#include <fmt/format.h>
#include <ucg/api/ucg_info.h>

#include <algorithm>
#include <string_view>

#include "tools/common/failure.hpp"
#include "tools/common/nearest.hpp"
#include "tools/common/option_scanner.hpp"
#include "tools/common/text.hpp"

namespace tools::ucg_perf {
namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t max_iterations = 10'000'000;  // every time is kept
constexpr std::uint64_t max_in_flight = 4096;
constexpr std::uint64_t max_local_ranks = 1024;
constexpr std::uint64_t smallest_by_default = 8;
constexpr std::uint64_t largest_by_default = std::uint64_t{16} << 20U;

std::uint64_t count_of(char letter, std::string_view text, std::uint64_t least,
                       std::uint64_t most) {
    const auto value = parse_count(text);
    if (!value || *value < least || *value > most) {
        throw usage_error(
            fmt::format("-{}: \"{}\" is not a number from {} to {}", letter, text, least, most));
    }
    return *value;
}

double seconds_of(char letter, std::string_view text) {
    const auto value = parse_real(text);
    if (!value || *value <= 0 || *value > 1e6) {
        throw usage_error(fmt::format("-{}: \"{}\" is not a time in seconds", letter, text));
    }
    return *value;
}

std::uint64_t size_of(std::string_view text) {
    const auto value = parse_size(text);
    if (!value || *value > max_bytes) {
        throw usage_error(fmt::format("-s: \"{}\" is not a size up to 1t", text));
    }
    return *value;
}

// BEGIN:END and BEGIN:END:FACTOR.
void add_range(std::vector<std::uint64_t>& to, std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() > 3) {
        throw usage_error(fmt::format("-s: \"{}\" is not BEGIN:END:FACTOR", text));
    }
    const std::uint64_t first = size_of(parts[0]);
    const std::uint64_t last = size_of(parts[1]);
    const std::uint64_t factor = parts.size() > 2 ? count_of('s', parts[2], 2, 1024) : 2;
    if (first == 0 || first > last) {
        throw usage_error(fmt::format("-s: the range \"{}\" is empty", text));
    }
    for (std::uint64_t size = first; size <= last; size *= factor)
        to.push_back(size);
}

std::vector<std::uint64_t> sizes_of(std::string_view text) {
    std::vector<std::uint64_t> made;
    for (const std::string_view piece : split(text, ',')) {
        if (piece.find(':') == std::string_view::npos)
            made.push_back(size_of(piece));
        else
            add_range(made, piece);
    }
    return made;
}

// Returns the enumerator among the first `count` with this name.
template<class Number, class Name>
Number find(char letter, std::string_view kind, std::string_view text, int count,
            const Name& name) {
    std::vector<std::string_view> names;
    for (int i = 0; i < count; ++i) {
        names.emplace_back(name(static_cast<Number>(i)));
        if (text == names.back()) return static_cast<Number>(i);
    }
    throw usage_error(fmt::format("-{}: {} {}", letter, kind, none_of(text, names)));
}

std::vector<std::string_view> algorithms_of(ucg_coll_t collective) {
    std::vector<std::string_view> names;
    for (unsigned i = 0; const char* const name = ucg_algorithm_name(collective, i); ++i)
        names.emplace_back(name);
    return names;
}

// Throws usage_error if no measured collective has one of the algorithms.
void check_algorithms(const options& opts) {
    std::vector<std::string_view> names;
    for (const ucg_coll_t collective : opts.collectives) {
        for (const std::string_view each : algorithms_of(collective))
            if (std::ranges::find(names, each) == names.end()) names.push_back(each);
    }
    for (const std::string& each : opts.algorithms) {
        if (std::ranges::find(names, each) != names.end()) continue;
        throw usage_error(fmt::format("-a: algorithm {}", none_of(each, names)));
    }
}

std::vector<ucg_coll_t> collectives_of(std::string_view text) {
    std::vector<ucg_coll_t> made;
    if (text == "all") {
        for (int i = 0; i < UCG_COLL_LAST; ++i)
            made.push_back(static_cast<ucg_coll_t>(i));
        return made;
    }
    for (const std::string_view piece : split(text, ','))
        made.push_back(find<ucg_coll_t>('c', "collective", piece, UCG_COLL_LAST, ucg_coll_name));
    return made;
}

std::vector<std::string> parse_algorithms(std::string_view text) {
    std::vector<std::string> made;
    for (const std::string_view piece : split(text, ',')) {
        if (piece.empty()) throw usage_error(fmt::format("-a: an empty name in \"{}\"", text));
        made.emplace_back(piece);
    }
    return made;
}

std::vector<unsigned> processors_of(std::string_view text) {
    std::vector<unsigned> made;
    if (text == "auto") return made;
    for (const std::string_view piece : split(text, ',')) {
        const auto ends = split(piece, '-');
        if (ends.size() > 2) {
            throw usage_error(fmt::format("-C: \"{}\" is neither a processor nor a range", piece));
        }
        const std::uint64_t first = count_of('C', ends.front(), 0, 65536);
        const std::uint64_t last = count_of('C', ends.back(), first, 65536);
        for (std::uint64_t cpu = first; cpu <= last; ++cpu)
            made.push_back(static_cast<unsigned>(cpu));
    }
    return made;
}

mode mode_of(std::string_view text) {
    if (text == "persistent") return mode::persistent;
    if (text == "blocking") return mode::blocking;
    throw usage_error(fmt::format("-m: \"{}\" is neither persistent nor blocking", text));
}

// Applies an option with a value.
void take_value(options& into, char letter, const std::string& text) {
    switch (letter) {
        case 'c':
            into.collectives = collectives_of(text);
            break;
        case 's':
            into.sizes = sizes_of(text);
            break;
        case 'a':
            into.algorithms = parse_algorithms(text);
            break;
        case 'n':
            into.iterations = count_of(letter, text, 1, max_iterations);
            break;
        case 'w':
            into.warm_up = count_of(letter, text, 0, max_iterations);
            break;
        case 't':
            into.seconds = seconds_of(letter, text);
            break;
        case 'd':
            into.type = find<ucg_type_t>('d', "type", text, UCG_TYPE_OPAQUE, ucg_type_name);
            break;
        case 'o':
            into.op = find<ucg_op_t>('o', "operation", text, UCG_OP_USER, ucg_op_name);
            break;
        case 'r':
            into.root = static_cast<std::uint32_t>(count_of(letter, text, 0, UINT32_MAX - 1));
            break;
        case 'm':
            into.call_mode = mode_of(text);
            break;
        case 'W':
            into.in_flight = static_cast<std::uint32_t>(count_of(letter, text, 1, max_in_flight));
            break;
        case 'b':
            into.buffers = static_cast<std::uint32_t>(count_of(letter, text, 1, max_in_flight));
            break;
        case 'T':
            into.limit = seconds_of(letter, text);
            break;
        case 'p':
            into.ranks = static_cast<std::uint32_t>(count_of(letter, text, 1, max_local_ranks));
            break;
        default:
            into.processors = processors_of(text);
    }
}

void take_flag(options& into, char letter) {
    switch (letter) {
        case 'i':
            into.in_place = true;
            break;
        case 'D':
            into.deterministic = true;
            break;
        case 'V':
            into.validate = true;
            break;
        case 'x':
            into.validate_once = true;
            break;
        case 'f':
            into.standard.choose(output_form::csv);
            break;
        case 'q':
            into.quiet = true;
            break;
        case 'v':
            into.verbose = true;
            break;
        default:
            into.list = true;
    }
}

void set_defaults(options& opts) {
    if (opts.collectives.empty()) opts.collectives = {UCG_COLL_ALLREDUCE};
    opts.buffers = std::max(opts.buffers, opts.in_flight);
    if (!opts.sizes.empty()) return;
    const std::uint64_t element = ucg_type_size(opts.type);
    for (std::uint64_t size = smallest_by_default; size <= largest_by_default; size *= 2)
        if (size >= element) opts.sizes.push_back(size);
}

// In a scan each rank's result covers a different number of ranks.
bool is_scan(ucg_coll_t collective) noexcept {
    return collective == UCG_COLL_SCAN || collective == UCG_COLL_EXSCAN;
}

// Throws usage_error for combinations of options that no rank could run.
void check(const options& opts) {
    const std::uint64_t element = ucg_type_size(opts.type);
    for (const std::uint64_t size : opts.sizes) {
        if (size % element == 0) continue;
        throw usage_error(
            fmt::format("-s: {} bytes are not a whole number of elements: one {} has {}", size,
                        ucg_type_name(opts.type), element));
    }
    const bool any = std::any_of(opts.collectives.begin(), opts.collectives.end(), reduces);
    if (any && ucg_op_is_defined(opts.type, opts.op) == 0) {
        throw usage_error(fmt::format("-o: {} is not defined for {}; -d chooses another type",
                                      ucg_op_name(opts.op), ucg_type_name(opts.type)));
    }
    if (opts.op == UCG_OP_AVERAGE &&
        std::any_of(opts.collectives.begin(), opts.collectives.end(), is_scan)) {
        throw usage_error("-o: scans have no average; leave them out of -c");
    }
    if (opts.call_mode == mode::blocking && opts.in_flight != 1) {
        throw usage_error("-W: blocking calls are one at a time; use -m persistent");
    }
    if (opts.ranks != 0 && opts.root >= opts.ranks) {
        throw usage_error(fmt::format("-r: there is no rank {} of {}", opts.root, opts.ranks));
    }
}

}  // namespace

bool reduces(ucg_coll_t collective) noexcept {
    switch (collective) {
        case UCG_COLL_REDUCE:
        case UCG_COLL_ALLREDUCE:
        case UCG_COLL_REDUCE_SCATTER:
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
        case UCG_COLL_SCAN:
        case UCG_COLL_EXSCAN:
            return true;
        default:
            return false;
    }
}

options parse_options(std::span<const std::string> words) {
    options opts;
    opts.arguments.assign(words.begin(), words.end());
    constexpr std::string_view flags = "iDVxfqvl";
    option_scanner scanner(words, with_report_options({std::string(flags), "csanwtdormWbTpC", {}}));
    while (const auto found = scanner.next()) {
        if (opts.standard.take(*found)) {
            if (opts.standard.only_text()) return opts;
        } else if (flags.find(found->letter) != std::string_view::npos) {
            take_flag(opts, found->letter);
        } else {
            take_value(opts, found->letter, found->value);
        }
    }
    if (!scanner.operands().empty()) {
        throw usage_error(fmt::format("\"{}\" is not an option", scanner.operands().front()));
    }
    set_defaults(opts);
    check_algorithms(opts);
    check(opts);
    return opts;
}

std::string list_text() {
    std::string text = "collectives:";
    for (int i = 0; i < UCG_COLL_LAST; ++i)
        text += fmt::format(" {}", ucg_coll_name(static_cast<ucg_coll_t>(i)));
    text += "\ntypes:";
    for (int i = 0; i < UCG_TYPE_OPAQUE; ++i)
        text += fmt::format(" {}", ucg_type_name(static_cast<ucg_type_t>(i)));
    text += "\noperations:";
    for (int i = 0; i < UCG_OP_USER; ++i)
        text += fmt::format(" {}", ucg_op_name(static_cast<ucg_op_t>(i)));
    text += "\nalgorithms:";
    for (int i = 0; i < UCG_COLL_LAST; ++i) {
        const auto collective = static_cast<ucg_coll_t>(i);
        text += fmt::format("\n  {:<20} {}", ucg_coll_name(collective),
                            fmt::join(algorithms_of(collective), " "));
    }
    return text + "\n";
}

std::string help_text() {
    return R"(usage: ucg_perf [options]              a rank of a job that a launcher started
       ucg_perf -p COUNT [options]     starts COUNT ranks on this host
Measures collectives. Ranks find each other through the environment: mpirun, prterun and srun
(PMIx), torchrun's variables, or UCG_OOB_DIR with UCG_OOB_RANK, UCG_OOB_SIZE and UCG_OOB_JOB.

What is measured
  -c NAMES    collectives, separated by commas, or all (allreduce)
  -s SIZES    bytes; of one block if each rank has a block for each rank: "8,64k", "8:1m" for
              doublings, "8:1m:4" for another factor (8:16m)
  -d TYPE     the type of the elements (fp32)
  -o NAME     the operation of reductions (sum)
  -r RANK     the root (0)
  -a NAMES    algorithms that must be used, in turn (the one that the library chooses)
  -i          in place, if the collective supports it
  -D          the same bits however the data is cut
  -m MODE     persistent requests, or blocking calls (persistent)
  -W COUNT    concurrent requests (1)
  -b COUNT    buffers, used in turn (as many as there are concurrent requests)

How
  -p COUNT    ranks to start here
  -C LIST     binds each rank to a processor of the list, "0,2-5", or of the allowed ones, auto; the
              first rank of a machine to the first processor, and so on, round robin
  -n COUNT    iterations (as many as fit the time)
  -w COUNT    untimed iterations before these (a tenth of -n, at least 2)
  -t SECONDS  time for each row without -n (0.5)
  -T SECONDS  time after which an operation fails (UCG_TIMEOUT), and after which ranks stop waiting for
              each other elsewhere (300): the missing ranks are named, and no process is left
  -V          compares each received element, of every iteration
  -x          compares one untimed iteration before the others

Output
  -f, --csv   comma-separated values
  --json      one JSON document: the conditions of the run (versions, the libraries' paths, host,
              binding, settings) and a row for each result
  -q          only rows, and no row counter on the error output
  -v          why the algorithm was chosen
  -l          names of collectives, types, operations and algorithms
  -h, --help  this text
  --version   the versions of this program and of the libraries, and the libraries' paths
)";
}

}  // namespace tools::ucg_perf
