// What the process does: serve, drive a server, or test itself.
#pragma once

#include "tools/perf/core/program_options.hpp"

namespace tools::perf {

// Waits for one client and runs the tests it asks for.
void run_server(const program_options& options);

// Runs the tests of the command line and its batch files against a server, prints the results.
void run_client(const program_options& options);

// The same within this process.
void run_loopback(const program_options& options);

}  // namespace tools::perf
