// ucx_perftest: measures latency and bandwidth of the public UCP functions.
#include <fmt/format.h>

#include <cstdlib>

#include "tools/common/version.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/session.hpp"

namespace {

using namespace tools::perf;

void run(const program_options& options) {
    if (options.standard.help) {
        fmt::print("{}\nTests\n", help_text());
        for (const test_row& row : all_tests())
            fmt::print("  {:<14} {}\n", row.name, row.title);
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

}  // namespace

int main(int argc, char** argv) {
    static_cast<void>(tools::nanoseconds_per_tick());
    const int status = tools::run_tool("ucx_perftest", [&] {
        run(parse_program_options({argv + 1, argv + argc}));
        return EXIT_SUCCESS;
    });
    // A failed process does not destroy its static objects, because that could wait for a lost
    // peer.
    if (status != EXIT_SUCCESS) std::_Exit(status);
    return status;
}
