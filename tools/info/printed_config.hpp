// The library's options as it prints them.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <string_view>

namespace tools::info {

// What ucp_config_print writes. Throws failure when there is no memory.
[[nodiscard]] std::string printed_config(const ucp_config_t* config, const char* title,
                                         unsigned flags);

// The value of one option ("UCX_TLS"), empty when the library does not print it.
[[nodiscard]] std::string printed_value(const ucp_config_t* config, std::string_view name);

}  // namespace tools::info
