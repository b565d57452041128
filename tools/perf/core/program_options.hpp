// The whole command line of ucx_perftest.
#pragma once

#include <chrono>

#include "tools/perf/core/table.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

enum class run_role : std::uint8_t { server, client, loopback };

struct program_options {
    standard_options standard;  // -h, --help, --version
    run_role role = run_role::server;
    std::vector<std::string> arguments;  // all words as given
    std::string host;                    // client: the host of the server
    std::uint16_t port = 13337;          // -p
    bool ipv6 = false;                   // -6
    std::vector<unsigned> cpus;          // -c
    std::vector<std::string> batch;      // -b
    // --peer-timeout; 0: none
    std::chrono::milliseconds silence_timeout{120'000};
    table_style style;  // -f -v -N -q --csv --json
    test_params test;
    // -n and -w as given; they override the lines of batch files.
    std::vector<std::string> overrides;
};

// Parses the command line. Does not read batch files. Throws usage_error.
[[nodiscard]] program_options parse_program_options(const std::vector<std::string>& arguments);

// The help text, without the names of the tests.
[[nodiscard]] std::string help_text();

}  // namespace tools::perf
