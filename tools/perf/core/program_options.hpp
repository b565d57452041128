// The whole command line of ucx_perftest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/perf/core/table.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

enum class part : std::uint8_t { server, client, loopback, help };

struct program_options {
    part role = part::server;
    std::string host;                // client: where the server is
    std::uint16_t port = 13337;      // -p
    bool ipv6 = false;               // -6
    std::vector<unsigned> cpus;      // -c
    std::vector<std::string> batch;  // -b
    table_style style;               // -f -v -N -q
    test_params test;
};

// Throws usage_error. Batch files are not read here.
[[nodiscard]] program_options parse_program_options(const std::vector<std::string>& arguments);

}  // namespace tools::perf
