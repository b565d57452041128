// ucx_info: shows the capabilities of the library on this machine, and the reasons for its choices.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tools/common/failure.hpp"
#include "tools/common/ticks.hpp"
#include "tools/common/version.hpp"
#include "tools/info/options.hpp"
#include "tools/info/pages.hpp"

namespace {

using namespace tools::info;

void show(const options& opts) {
    if (opts.standard.help) {
        fmt::print("{}", help_text());
        return;
    }
    if (opts.standard.version) {
        const tools::library ucp = tools::loaded_libucp();
        fmt::print("{}", tools::version_text("ucx_info", {&ucp, 1}));
        return;
    }
    if (opts.version) print_version();
    if (opts.system) print_system();
    if (opts.topology) print_topology();
    if (opts.build) print_build();
    if (opts.types) print_types();
    if (opts.config) print_config(opts);
    if (opts.devices) print_devices(opts);
    if (opts.needs_features()) print_ucp(opts);
}

}  // namespace

int main(int argc, char** argv) {
    static_cast<void>(tools::nanoseconds_per_tick());
    try {
        show(parse_options({argv + 1, argv + argc}));
    } catch (const tools::usage_error& error) {
        fmt::print(stderr, "ucx_info: {} (-h shows the options)\n", error.what());
        return tools::exit_usage;
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "ucx_info: {}\n", error.what());
        return tools::exit_failure;
    }
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
