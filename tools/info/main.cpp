// ucx_info: shows the capabilities of the library on this machine, and the reasons for its choices.
#include <fmt/format.h>

#include <cstdlib>

#include "tools/common/ticks.hpp"
#include "tools/common/version.hpp"
#include "tools/info/options.hpp"

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
    return tools::run_tool("ucx_info", [&] {
        show(parse_options({argv + 1, argv + argc}));
        return EXIT_SUCCESS;
    });
}
