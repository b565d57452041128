// The three modes in which ucx_perftest runs: server, client, or loopback.
#pragma once

#include "tools/perf/core/program_options.hpp"

namespace tools::perf {

// Waits for one client and runs the tests that it requests.
void run_server(const program_options& options);

// Runs the tests of the command line and of its batch files against a server, and prints the
// results.
void run_client(const program_options& options);

// Runs the tests between two sides in this process, and prints the results.
void run_loopback(const program_options& options);

}  // namespace tools::perf
