// Which lines of the log are written when the same kind of line comes again and again.
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

// Writes the line with its number, from the last of the first lines on. Without memory for the text
// the format alone is written. Any thread.
void write_numbered(const component& source, level severity, fmt::string_view format,
                    fmt::format_args args, std::uint64_t number,
                    std::uint64_t first = first_lines) noexcept;

// The kind of a line: its format, and the content of the C strings among its arguments (names of
// calls, reasons). Numbers, names of peers and the like make no further kind. Never 0.
[[nodiscard]] std::uint64_t kind_of(fmt::string_view format, fmt::format_args args) noexcept;

// Counts lines by their kind, without a lock and without memory of its own: a program that repeats
// a failing call must not fill a disk. Kinds beyond the size of the table are counted as one. Any
// thread.
class line_counts {
public:
    constexpr line_counts() noexcept = default;

    // The number of this line among those of its kind, from 1.
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
