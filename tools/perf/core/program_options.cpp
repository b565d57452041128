#include "tools/perf/core/program_options.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"

namespace tools::perf {
namespace {

std::chrono::seconds parse_peer_timeout(std::string_view text) {
    if (text == "0") return {};
    // The peer sends a keepalive every 2 s (peer_watch.cpp). A shorter timeout would end healthy
    // runs.
    return std::chrono::seconds(number{5, 1'000'000}(text));
}

// The options of a test, of which the command line's -n and -w override those of batch files.
std::vector<option_row> overriding_rows(program_options& into) {
    std::vector<option_row> rows = test_rows(into.test);
    for (option_row& row : rows) {
        if (row.letter() != 'n' && row.letter() != 'w') continue;
        row.take = [&into, take = row.take, name = row.shown()](std::string_view text) {
            take(text);
            into.overrides.push_back(fmt::format("{}{}", name, text));
        };
    }
    return rows;
}

std::vector<option_row> rows_of(program_options& into) {
    std::vector<option_row> rows{help_line(
        R"(Usage: ucx_perftest [options]          wait for a client and run its tests
       ucx_perftest host [options]     run a test against the server on that host
       ucx_perftest -l [options]       run a test within one process)")};
    const auto append = [&rows](const std::vector<option_row>& more) {
        rows.insert(rows.end(), more.begin(), more.end());
    };
    append(overriding_rows(into));
    append({
        help_line("\nThe process"),
        {"-b file",
         "run every line of a batch file: a name, then options; given again, every combination of "
         "lines. A '#' begins a comment line",
         [&into](std::string_view text) { into.batch.emplace_back(text); }},
        value("-c list", into.cpus, parse_cpus,
              "processors to run on, such as 0,2-3; with one for each thread, one each"),
        help_line("\nConnection"),
        value("-p port", into.port, number{1, 65535},
              "TCP port by which client and server find each other (13337)"),
        flag("-6", into.ipv6, "use IPv6 for it"),
        {"-l", "loopback, no second process",
         [&into](std::string_view) { into.role = run_role::loopback; }},
        value(
            "--peer-timeout s", into.silence_timeout, parse_peer_timeout,
            "give up when the peer has sent nothing for s seconds, because it is stopped or cannot "
            "be reached; both sides send a keepalive every 2 s (120; 0: never)"),
        help_line(
            "  With a job key (UCX_JOB_KEY, UCX_JOB_KEY_FILE) both sides prove it to each other "
            "first.\n\nOutput"),
        flag("-f", into.style.final_only, "only the final row of each test"),
        csv_option("-v, --csv", into.standard),
        json_option(into.standard),
        flag("-N", into.style.thousands, "thousands separators"),
        flag("-q", into.style.quiet,
             "no table header, no position among the tests of a batch; the server prints nothing"),
        help_option(into.standard),
        version_option(into.standard,
                       "the versions of this program and of the library, and the library's path"),
        help_line(R"(
Columns: "average" covers the time since the previous row, "overall" the whole run. Latency is
half a round trip; a MB is 2^20 bytes. Without -x transports are chosen by UCX_TLS and
UCX_NET_DEVICES.)"),
    });
    // Options of OpenUCX's ucx_perftest.
    for (const char* const label : {"-o", "-B", "-A mode", "-K name", "-L cpus", "-F list",
                                    "-Y value", "-a type", "-g url", "-G url", "-P file"})
        rows.push_back(refuse(label, "this option serves tests that are not in this build"));
    return rows;
}

void apply_operands(program_options& options, const std::vector<std::string>& operands) {
    if (operands.empty()) return;
    if (operands.size() > 1) {
        throw usage_error(
            fmt::format("more than one host: \"{}\" and \"{}\"", operands[0], operands[1]));
    }
    if (options.role == run_role::loopback) {
        throw usage_error("-l runs in one process, so no host can be named");
    }
    options.role = run_role::client;
    options.host = operands.front();
    options.ipv6 = options.ipv6 || options.host.find(':') != std::string::npos;
}

}  // namespace

program_options parse_program_options(const std::vector<std::string>& arguments) {
    program_options options;
    options.arguments = arguments;
    const std::vector<std::string> operands = parse(rows_of(options), arguments);
    if (options.standard.only_text()) return options;
    apply_operands(options, operands);
    options.style.form = options.standard.form;
    return options;
}

std::string help_text() {
    program_options none;
    return help(rows_of(none));
}

}  // namespace tools::perf
