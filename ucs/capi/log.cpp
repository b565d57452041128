// ucs_log_dispatch: the library's log for programs that use the C interface.
#include "ucs/log/log.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "ucs/debug/log_def.h"

namespace {

// The longest message that is written if there is no memory for a longer one.
constexpr std::size_t short_message = 1024;

// The levels of the C interface and those of the log have the same numbers. A line that a program
// prints without a level is shown as information.
ucs::log::level level_of(ucs_log_level_t level) noexcept {
    return level < UCS_LOG_LEVEL_LAST ? static_cast<ucs::log::level>(level) : ucs::log::level::info;
}

// Returns "transport.c:12 " for levels that are meant for readers of the source.
std::string source_location(const char* file, unsigned line, ucs::log::level level) {
    if (file == nullptr || level < ucs::log::level::debug) return {};
    const char* slash = std::strrchr(file, '/');
    return std::string(slash == nullptr ? file : slash + 1) + ':' + std::to_string(line) + ' ';
}

std::string formatted(const char* format, std::va_list arguments) {
    char buffer[short_message];
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(buffer, sizeof(buffer), format, arguments);
    std::string text;
    if (length >= static_cast<int>(sizeof(buffer))) {
        text.resize(static_cast<std::size_t>(length));
        std::vsnprintf(text.data(), text.size() + 1, format, again);
    } else if (length > 0) {
        text.assign(buffer, static_cast<std::size_t>(length));
    }
    va_end(again);
    return text;
}

}  // namespace

void ucs_log_dispatch(const char* file, unsigned line, const char* /*function*/,
                      ucs_log_level_t level, const ucs_log_component_config_t* comp_conf,
                      const char* format, ...) {
    // The name is an array of the caller that need not end with a zero byte.
    char name[sizeof(comp_conf->name) + 1] = "program";
    if (comp_conf != nullptr) {
        std::memcpy(name, comp_conf->name, sizeof(comp_conf->name));
        name[sizeof(comp_conf->name)] = '\0';
    }
    const ucs::log::component component(name);
    std::va_list arguments;
    va_start(arguments, format);
    try {
        const ucs::log::level severity = level_of(level);
        const std::string text = formatted(format, arguments);
        ucs::log::write(component, severity, source_location(file, line, severity) + text);
    } catch (...) {
        ucs::log::write(component, ucs::log::level::error, format);
    }
    va_end(arguments);
}
