// Limits log lines that peers can cause.
#pragma once

#include "ucs/log/log.hpp"

namespace ucs::log {

// Counts errors of peers. Writes a line for the first few errors, and then only for each power of
// ten, with the count, so that a peer cannot fill a disk. A worker has one throttle for all kinds
// of errors. Owner context; any thread may read the count.
class throttle {
public:
    static constexpr std::uint64_t first_lines = 8;

    template<class... Args>
    void warn(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
        count_and_log(c, level::warn, f, std::forward<Args>(args)...);
    }
    template<class... Args>
    void error(const component& c, fmt::format_string<Args...> f, Args&&... args) noexcept {
        count_and_log(c, level::error, f, std::forward<Args>(args)...);
    }

    [[nodiscard]] std::uint64_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

private:
    template<class... Args>
    void count_and_log(const component& c, level severity, fmt::format_string<Args...> f,
                       Args&&... args) noexcept {
        if (due() && c.enabled(severity)) write(c, severity, f, fmt::make_format_args(args...));
    }
    [[nodiscard]] bool due() noexcept;
    void write(const component& c, level severity, fmt::string_view format,
               fmt::format_args args) const noexcept;

    std::atomic<std::uint64_t> count_{0};
};

}  // namespace ucs::log
