#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"
#include "tools/info/config_filter.hpp"
#include "tools/info/pages.hpp"

namespace tools::info {
namespace {

ucs_config_print_flags_t flags_of(const options& wanted) {
    unsigned flags = UCS_CONFIG_PRINT_CONFIG;
    if (wanted.documented) flags |= UCS_CONFIG_PRINT_HEADER | UCS_CONFIG_PRINT_DOC;
    if (wanted.hidden) flags |= UCS_CONFIG_PRINT_HIDDEN;
    if (wanted.commented) flags |= UCS_CONFIG_PRINT_COMMENT_DEFAULT;
    return static_cast<ucs_config_print_flags_t>(flags);
}

// What the library prints, as text.
std::string printed_config(const options& wanted) {
    ucp_config_t* config = nullptr;
    const ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status != UCS_OK) {
        throw failure(fmt::format("ucp_config_read: {}", ucs_status_string(status)));
    }
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&buffer, &size);
    if (stream == nullptr) throw failure("open_memstream: out of memory");
    ucp_config_print(config, stream, "UCX library configuration file", flags_of(wanted));
    std::fclose(stream);
    ucp_config_release(config);
    const std::unique_ptr<char, decltype(&std::free)> owner(buffer, &std::free);
    return {buffer, size};
}

}  // namespace

void print_config(const options& wanted) {
    const std::string text = printed_config(wanted);
    fmt::print("{}", wanted.filter.empty() ? text : filter_config(text, wanted.filter));
}

}  // namespace tools::info
