// ucp_config_t: reading, changing and printing options.
#include <cstdio>

#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

std::string_view text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

ucs_status_t read(const char* prefix, const char* file, ucp_config_t** config_p) {
    auto source = ucs::config::source::read(text_or_empty(prefix), text_or_empty(file));
    if (!source) return source.status();
    // Reports wrong values already here, where the user looks for the cause.
    if (auto options = ucs::config::load<config>(*source); !options) return options.status();
    *config_p = new ucp_config{std::move(*source)};
    return UCS_OK;
}

}  // namespace

extern "C" {

ucs_status_t ucp_config_read(const char* env_prefix, const char* filename,
                             ucp_config_t** config_p) {
    if (config_p == nullptr) return refuse("ucp_config_read", "config_p is NULL");
    return ucs::boundary(core_log, "ucp_config_read",
                         [&] { return read(env_prefix, filename, config_p); });
}

void ucp_config_release(ucp_config_t* config) {
    if (config != nullptr) config->source.erase_secret("JOB_KEY");
    delete config;
}

ucs_status_t ucp_config_modify(ucp_config_t* config, const char* name, const char* value) {
    if (config == nullptr || name == nullptr || value == nullptr) {
        return refuse("ucp_config_modify", "config, name or value is NULL");
    }
    return ucs::boundary(core_log, "ucp_config_modify", [&] {
        const auto tables = option_tables();
        return ucs::config::modify(config->source, tables, name, value);
    });
}

void ucp_config_print(const ucp_config_t* config, FILE* stream, const char* title,
                      ucs_config_print_flags_t print_flags) {
    if (config == nullptr || stream == nullptr) return;
    ucs::boundary(core_log, "ucp_config_print", [&] {
        const auto tables = option_tables();
        const std::string text =
            ucs::config::print(config->source, tables, text_or_empty(title), print_flags);
        std::fputs(text.c_str(), stream);
    });
}

}  // extern "C"
