// ucx_perftest: measures latency and bandwidth of the public UCP functions.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tools/common/failure.hpp"
#include "tools/common/ticks.hpp"
#include "tools/common/version.hpp"
#include "tools/perf/core/program_options.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/help.hpp"
#include "tools/perf/session.hpp"

namespace {

using namespace tools::perf;

void run(const program_options& options) {
    if (options.standard.help) {
        fmt::print("{}", help_text());
        return;
    }
    if (options.standard.version) {
        const tools::library ucp = tools::loaded_libucp();
        fmt::print("{}", tools::version_text("ucx_perftest", {&ucp, 1}));
        return;
    }
    // A server gets its tests from the client, but a wrong name on its command line is still an
    // error.
    if (!options.test.test.empty()) static_cast<void>(find_test(options.test.test));
    switch (options.role) {
        case run_role::server:
            return run_server(options);
        case run_role::client:
            return run_client(options);
        case run_role::loopback:
            return run_loopback(options);
    }
}

// Exits without destroying the objects of a failed test, because their destruction could wait for a
// lost peer.
[[noreturn]] void give_up(int status, const char* text, const char* hint) {
    std::fflush(stdout);
    fmt::print(stderr, "ucx_perftest: {}{}\n", text, hint);
    std::_Exit(status);
}

}  // namespace

int main(int argc, char** argv) {
    static_cast<void>(tools::nanoseconds_per_tick());
    try {
        run(parse_program_options({argv + 1, argv + argc}));
    } catch (const tools::usage_error& error) {
        give_up(tools::exit_usage, error.what(), " (-h shows the options)");
    } catch (const std::exception& error) {
        give_up(tools::exit_failure, error.what(), "");
    }
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
