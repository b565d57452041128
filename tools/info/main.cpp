// ucx_info: shows what the library can do here and why it does what it does.
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

void show(const options& wanted) {
    if (wanted.standard.help) {
        fmt::print("{}", help_text());
        return;
    }
    if (wanted.standard.version) {
        const tools::library ucp = tools::loaded_libucp();
        fmt::print("{}", tools::version_text("ucx_info", {&ucp, 1}));
        return;
    }
    if (wanted.version) print_version();
    if (wanted.system) print_system();
    if (wanted.topology) print_topology();
    if (wanted.build) print_build();
    if (wanted.types) print_types();
    if (wanted.config) print_config(wanted);
    if (wanted.devices) print_devices(wanted);
    if (wanted.needs_features()) print_ucp(wanted);
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
