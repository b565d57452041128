// Names of log levels, and the levels of components (UCX_LOG_LEVEL).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ucs/log/log.hpp"

namespace ucs::log {

// Parses the name of a level ("warn", "TRACE", "req", …). Returns nullopt for other texts.
[[nodiscard]] std::optional<level> parse_level(std::string_view text) noexcept;
[[nodiscard]] const char* level_name(level severity) noexcept;

// The value of UCX_LOG_LEVEL: a default level and levels for components, for example
// "info,ucp.wireup:debug,uct.tcp:trace". The longest matching component name decides. Immutable
// value, any thread.
class level_map {
public:
    static constexpr level default_level = level::warn;

    [[nodiscard]] static std::optional<level_map> parse(std::string_view text);
    [[nodiscard]] level of(std::string_view component_name) const noexcept;

private:
    struct rule {
        std::string component;
        level limit;
    };
    level everything_ = default_level;
    std::vector<rule> rules_;
};

}  // namespace ucs::log
