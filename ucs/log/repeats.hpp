// Limits repeated log lines: decides which lines of a kind are written.
#pragma once

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "ucs/log/log.hpp"

namespace ucs::log {

// The first lines of a kind are written, then those whose number is a power of ten.
inline constexpr std::uint64_t first_lines = 8;
[[nodiscard]] bool is_written(std::uint64_t number, std::uint64_t first = first_lines) noexcept;

// Writes the line; from line number `first` on, it adds the number. Without memory for the text it
// writes only the format. Any thread.
void write_numbered(const component& source, level severity, fmt::string_view format,
                    fmt::format_args args, std::uint64_t number,
                    std::uint64_t first = first_lines) noexcept;

// Returns the kind of a line: a hash of its format and of the C strings among its arguments (names
// of calls, reasons). Other arguments, such as numbers and names of peers, do not count. Never 0.
[[nodiscard]] std::uint64_t kind_of(fmt::string_view format, fmt::format_args args) noexcept;

// Counts lines by their kind, without a lock and without allocation, so that a program that repeats
// a failing call does not fill a disk. Kinds beyond the size of the table share one count. Any
// thread.
class line_counts {
public:
    constexpr line_counts() noexcept = default;

    // Counts a line, and returns its number among the lines of its kind, from 1.
    std::uint64_t add(std::uint64_t kind) noexcept;
    void reset() noexcept;

private:
    static constexpr std::size_t slots = 1024;  // a power of two
    static constexpr std::size_t longest_probe = 32;

    struct slot {
        std::atomic<std::uint64_t> kind{0};
        std::atomic<std::uint64_t> count{0};
    };
    slot& slot_of(std::uint64_t kind) noexcept;

    std::array<slot, slots> table_{};
    slot others_{};
};

}  // namespace ucs::log
