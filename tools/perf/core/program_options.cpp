#include "tools/perf/core/program_options.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tools/common/failure.hpp"
#include "tools/common/option_scanner.hpp"
#include "tools/common/text.hpp"
#include "tools/perf/core/test_options.hpp"

namespace tools::perf {
namespace {

constexpr std::string_view program_flags = "l6fvNq";
constexpr std::string_view program_valued = "pcb";
constexpr char peer_timeout_letter = '\x10';  // this option has only a long name
// The peer sends a keepalive every 2 s (peer_watch.cpp). A shorter timeout would end healthy runs.
constexpr std::uint64_t least_peer_timeout = 5;
constexpr std::uint64_t most_peer_timeout = 1'000'000;
constexpr std::string_view override_letters = "nw";
constexpr unsigned max_cpu = 65536;

// Option letters of ucx_perftest in OpenUCX that belong to tests which do not exist here. They are
// parsed so that the error can say that.
constexpr std::string_view known_elsewhere_flags = "oB";
constexpr std::string_view known_elsewhere_valued = "AKLFYagGP";

std::uint16_t parse_port(std::string_view text) {
    const auto port = parse_count(text);
    if (!port || *port == 0 || *port > 65535) {
        throw usage_error(fmt::format("-p: \"{}\" is not a port from 1 to 65535", text));
    }
    return static_cast<std::uint16_t>(*port);
}

std::chrono::seconds parse_peer_timeout(std::string_view text) {
    const auto seconds = parse_count(text);
    if (!seconds || (*seconds != 0 && *seconds < least_peer_timeout) ||
        *seconds > most_peer_timeout) {
        throw usage_error(fmt::format(
            "--peer-timeout: \"{}\" is not a number of seconds from {} to {}, or 0 for none", text,
            least_peer_timeout, most_peer_timeout));
    }
    return std::chrono::seconds(*seconds);
}

unsigned parse_cpu(std::string_view text, std::string_view whole) {
    const auto cpu = parse_count(text);
    if (!cpu || *cpu > max_cpu) {
        throw usage_error(
            fmt::format("-c: \"{}\" is not a list of processors such as 0,2 or 0-3", whole));
    }
    return static_cast<unsigned>(*cpu);
}

std::vector<unsigned> parse_cpus(std::string_view text) {
    std::vector<unsigned> cpus;
    for (const std::string_view piece : split(text, ',')) {
        const std::size_t dash = piece.find('-');
        const unsigned first = parse_cpu(piece.substr(0, dash), text);
        const unsigned last =
            dash == std::string_view::npos ? first : parse_cpu(piece.substr(dash + 1), text);
        for (unsigned cpu = first; cpu <= last; ++cpu)
            cpus.push_back(cpu);
        if (last < first) throw usage_error(fmt::format("-c: \"{}\" runs backwards", piece));
    }
    return cpus;
}

void apply_program_option(program_options& options, const found_option& option) {
    switch (option.letter) {
        case 'l':
            options.role = run_role::loopback;
            return;
        case '6':
            options.ipv6 = true;
            return;
        case 'f':
            options.style.final_only = true;
            return;
        case 'v':
            options.standard.choose(output_form::csv);
            return;
        case 'N':
            options.style.thousands = true;
            return;
        case 'q':
            options.style.quiet = true;
            return;
        case 'p':
            options.port = parse_port(option.value);
            return;
        case peer_timeout_letter:
            options.silence_timeout = parse_peer_timeout(option.value);
            return;
        case 'c':
            options.cpus = parse_cpus(option.value);
            return;
        default:
            options.batch.push_back(option.value);
            return;
    }
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

bool contains(std::string_view letters, char letter) {
    return letters.find(letter) != std::string_view::npos;
}

}  // namespace

program_options parse_program_options(const std::vector<std::string>& arguments) {
    program_options options;
    options.arguments = arguments;
    option_scanner scanner(
        arguments, with_report_options(
                       {fmt::format("{}{}{}", program_flags, test_flags, known_elsewhere_flags),
                        fmt::format("{}{}{}{}", program_valued, test_valued, known_elsewhere_valued,
                                    peer_timeout_letter),
                        {{"peer-timeout", peer_timeout_letter}}}));
    while (const auto option = scanner.next()) {
        const char letter = option->letter;
        if (options.standard.take(*option)) {
            if (options.standard.only_text()) return options;
        } else if (contains(program_flags, letter) || contains(program_valued, letter) ||
                   letter == peer_timeout_letter) {
            apply_program_option(options, *option);
        } else if (contains(test_flags, letter) || contains(test_valued, letter)) {
            apply_test_option(options.test, *option, scanner);
            if (contains(override_letters, letter)) {
                options.overrides.push_back(fmt::format("-{}{}", letter, option->value));
            }
        } else {
            throw usage_error(
                fmt::format("option -{} serves tests that are not in this build", letter));
        }
    }
    apply_operands(options, scanner.operands());
    options.style.form = options.standard.form;
    return options;
}

}  // namespace tools::perf
