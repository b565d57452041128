// Reads the library's options from its own printout.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <string_view>

namespace tools::info {

// Returns the output of ucp_config_print(). Throws failure if there is no memory.
[[nodiscard]] std::string printed_config(const ucp_config_t* config, const char* title,
                                         unsigned flags);

// Returns the value of one option ("UCX_TLS"); empty if the library does not print it.
[[nodiscard]] std::string printed_value(const ucp_config_t* config, std::string_view name);

}  // namespace tools::info
