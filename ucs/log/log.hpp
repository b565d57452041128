// Logging: levels, components, one line per message.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace ucs::log {

// Severity, most severe first. The values correspond to the level names of UCX_LOG_LEVEL.
enum class level : std::uint8_t {
    fatal,
    error,
    warn,
    diag,
    info,
    debug,
    trace,
    trace_req,
    trace_data,
    trace_async,
    trace_func,
    trace_poll,
};

// Counts changes of the levels. A component whose cached level is from an older generation resolves
// it again. Components are not registered anywhere, so a module that declares some can be unloaded.
inline constinit std::atomic<std::uint32_t> generation{1};

// A named source of messages ("ucp.wireup") with a level of its own. Declared as a constant
// initialised global next to the code that logs through it; any thread may log. A level for "ucp"
// also applies to "ucp.wireup", unless that component has its own level.
class component {
public:
    constexpr explicit component(const char* name) noexcept : name_(name) {}
    component(const component&) = delete;
    component& operator=(const component&) = delete;

    [[nodiscard]] const char* name() const noexcept { return name_; }
    [[nodiscard]] bool enabled(level severity) const noexcept {
        std::uint32_t cached = cached_.load(std::memory_order_relaxed);
        if (cached >> level_bits != generation.load(std::memory_order_relaxed)) {
            cached = resolve();
        }
        return static_cast<std::uint32_t>(severity) <= (cached & level_mask);
    }

private:
    static constexpr unsigned level_bits = 4;
    static constexpr std::uint32_t level_mask = (1U << level_bits) - 1;

    std::uint32_t resolve() const noexcept;

    const char* name_;
    mutable std::atomic<std::uint32_t> cached_{0};  // generation << level_bits | level
};

// Write one message regardless of its level, with one write(2). Callers use the functions below,
// which check the level first.
void write(const component& source, level severity, std::string_view text) noexcept;
void vwrite(const component& source, level severity, fmt::string_view format,
            fmt::format_args args) noexcept;

template<class... Args>
void log(const component& source, level severity, fmt::format_string<Args...> format,
         Args&&... args) noexcept {
    if (source.enabled(severity)) {
        vwrite(source, severity, format, fmt::make_format_args(args...));
    }
}

template<class... Args>
void error(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::error, f, std::forward<Args>(args)...);
}
template<class... Args>
void warn(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::warn, f, std::forward<Args>(args)...);
}
template<class... Args>
void diag(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::diag, f, std::forward<Args>(args)...);
}
template<class... Args>
void info(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::info, f, std::forward<Args>(args)...);
}
template<class... Args>
void debug(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::debug, f, std::forward<Args>(args)...);
}
template<class... Args>
void trace(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
    log(c, level::trace, f, std::forward<Args>(args)...);
}

}  // namespace ucs::log
