#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/info/config_filter.hpp"
#include "tools/info/ucp_objects.hpp"

namespace tools::info {
namespace {

unsigned flags_of(const options& opts) {
    unsigned flags = UCS_CONFIG_PRINT_CONFIG;
    if (opts.documented) flags |= UCS_CONFIG_PRINT_HEADER | UCS_CONFIG_PRINT_DOC;
    if (opts.hidden) flags |= UCS_CONFIG_PRINT_HIDDEN;
    if (opts.commented) flags |= UCS_CONFIG_PRINT_COMMENT_DEFAULT;
    return flags;
}

// Returns the configuration that the library prints.
std::string whole_config(const options& opts) {
    ucp_config_t* config = nullptr;
    require_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const std::unique_ptr<ucp_config_t, release> owner(config);
    return printed_config(config, "UCX library configuration file", flags_of(opts));
}

}  // namespace

void print_config(const options& opts) {
    const std::string text = whole_config(opts);
    fmt::print("{}", opts.filter.empty() ? text : filter_config(text, opts.filter));
}

}  // namespace tools::info
