#include "tools/ucg_perf/options.hpp"

#include <fmt/format.h>
#include <ucg/api/ucg_info.h>

#include <algorithm>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"
#include "tools/ucg_perf/buffers.hpp"

namespace tools::ucg_perf {
namespace {

constexpr std::uint64_t max_iterations = 10'000'000;  // every time is kept
constexpr std::uint64_t max_in_flight = 4096;
constexpr std::uint64_t max_local_ranks = 1024;
constexpr std::uint64_t smallest_by_default = 8;
constexpr std::uint64_t largest_by_default = std::uint64_t{16} << 20U;

// A parser of the names of the first `count` enumerators.
template<class Enum>
one_of names(std::string_view kind, Enum count, const char* (*name)(Enum)) {
    one_of parser{{}, kind};
    for (int i = 0; i < static_cast<int>(count); ++i)
        parser.names.emplace_back(name(static_cast<Enum>(i)));
    return parser;
}

one_of collective_names() {
    return names("collective ", UCG_COLL_LAST, ucg_coll_name);
}

one_of type_names() {
    return names("type ", UCG_TYPE_OPAQUE, ucg_type_name);
}

one_of operation_names() {
    return names("operation ", UCG_OP_USER, ucg_op_name);
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

std::vector<ucg_coll_t> parse_collectives(std::string_view text) {
    const one_of parse_one = collective_names();
    std::vector<ucg_coll_t> made;
    for (const std::string_view piece : text == "all" ? parse_one.names : split(text, ','))
        made.push_back(static_cast<ucg_coll_t>(parse_one(piece)));
    return made;
}

std::vector<std::string> parse_algorithms(std::string_view text) {
    std::vector<std::string> made;
    for (const std::string_view piece : split(text, ',')) {
        if (piece.empty()) throw usage_error(fmt::format("an empty name in \"{}\"", text));
        made.emplace_back(piece);
    }
    return made;
}

std::vector<unsigned> parse_processors(std::string_view text) {
    return text == "auto" ? std::vector<unsigned>{} : parse_cpus(text);
}

std::vector<option_row> rows_of(options& into) {
    const number some_in_flight{1, max_in_flight};
    const real seconds{1e-9, 1e6, "a time in seconds"};
    return {
        help_line(R"(usage: ucg_perf [options]              a rank of a job that a launcher started
       ucg_perf -p COUNT [options]     starts COUNT ranks on this host
Measures collectives. Ranks find each other through the environment: mpirun, prterun and srun
(PMIx), torchrun's variables, or UCG_OOB_DIR with UCG_OOB_RANK, UCG_OOB_SIZE and UCG_OOB_JOB.

What is measured)"),
        value("-c NAMES", into.collectives, parse_collectives,
              "collectives, separated by commas, or all (allreduce)"),
        value("-s SIZES", into.sizes, number_list{byte_size{}, ':', 2, true},
              "bytes; of one block if each rank has a block for each rank: \"8,64k\", \"8:1m\" for "
              "doublings, \"8:1m:4\" for another factor (8:16m)"),
        value("-d TYPE", into.type, type_names(), "the type of the elements (fp32)"),
        value("-o NAME", into.op, operation_names(), "the operation of reductions (sum)"),
        value("-r RANK", into.root, number{0, UINT32_MAX - 1}, "the root (0)"),
        value("-a NAMES", into.algorithms, parse_algorithms,
              "algorithms that must be used, in turn (the one that the library chooses)"),
        flag("-i", into.in_place, "in place, if the collective supports it"),
        flag("-D", into.deterministic, "the same bits however the data is cut"),
        value("-m MODE", into.call_mode, one_of{{"persistent", "blocking"}},
              "persistent requests, or blocking calls (persistent)"),
        value("-W COUNT", into.in_flight, some_in_flight, "concurrent requests (1)"),
        value("-b COUNT", into.buffers, some_in_flight,
              "buffers, used in turn (as many as there are concurrent requests)"),
        help_line("\nHow"),
        value("-p COUNT", into.ranks, number{1, max_local_ranks}, "ranks to start here"),
        value(
            "-C LIST", into.processors, parse_processors,
            "binds each rank to a processor of the list, \"0,2-5\", or of the allowed ones, auto; "
            "the first rank of a machine to the first processor, and so on, round robin"),
        value("-n COUNT", into.iterations, number{1, max_iterations},
              "iterations (as many as fit the time)"),
        value("-w COUNT", into.warm_up, number{0, max_iterations},
              "untimed iterations before these (a tenth of -n, at least 2)"),
        value("-t SECONDS", into.seconds, seconds, "time for each row without -n (0.5)"),
        value(
            "-T SECONDS", into.limit, seconds,
            "time after which an operation fails (UCG_TIMEOUT), and after which ranks stop waiting "
            "for each other elsewhere (300): the missing ranks are named, and no process is left"),
        flag("-V", into.validate, "compares each received element, of every iteration"),
        flag("-x", into.validate_once, "compares one untimed iteration before the others"),
        help_line("\nOutput"),
        csv_option("-f, --csv", into.standard),
        json_option(into.standard),
        flag("-q", into.quiet, "only rows, and no row counter on the error output"),
        flag("-v", into.verbose, "why the algorithm was chosen"),
        flag("-l", into.list, "names of collectives, types, operations and algorithms"),
        help_option(into.standard),
        version_option(
            into.standard,
            "the versions of this program and of the libraries, and the libraries' paths"),
    };
}

void set_defaults(options& opts) {
    if (opts.collectives.empty()) opts.collectives = {UCG_COLL_ALLREDUCE};
    opts.buffers = std::max(opts.buffers, opts.in_flight);
    if (!opts.sizes.empty()) return;
    const std::uint64_t element = ucg_type_size(opts.type);
    for (std::uint64_t size = smallest_by_default; size <= largest_by_default; size *= 2)
        if (size >= element) opts.sizes.push_back(size);
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
    const bool any = std::any_of(opts.collectives.begin(), opts.collectives.end(),
                                 [](ucg_coll_t each) { return traits_of(each).reduces; });
    if (any && ucg_op_is_defined(opts.type, opts.op) == 0) {
        throw usage_error(fmt::format("-o: {} is not defined for {}; -d chooses another type",
                                      ucg_op_name(opts.op), ucg_type_name(opts.type)));
    }
    if (opts.op == UCG_OP_AVERAGE &&
        std::any_of(opts.collectives.begin(), opts.collectives.end(),
                    [](ucg_coll_t each) { return traits_of(each).scans; })) {
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

options parse_options(std::span<const std::string> words) {
    options opts;
    opts.arguments.assign(words.begin(), words.end());
    parse_options_only(rows_of(opts), words);
    if (opts.standard.only_text()) return opts;
    set_defaults(opts);
    check_algorithms(opts);
    check(opts);
    return opts;
}

std::string list_text() {
    std::string text =
        fmt::format("collectives: {}\ntypes: {}\noperations: {}\nalgorithms:",
                    fmt::join(collective_names().names, " "), fmt::join(type_names().names, " "),
                    fmt::join(operation_names().names, " "));
    for (int i = 0; i < UCG_COLL_LAST; ++i) {
        const auto collective = static_cast<ucg_coll_t>(i);
        text += fmt::format("\n  {:<20} {}", ucg_coll_name(collective),
                            fmt::join(algorithms_of(collective), " "));
    }
    return text + "\n";
}

std::string help_text() {
    options none;
    return help(rows_of(none));
}

}  // namespace tools::ucg_perf
