// Parses and prints numbers with units.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ucs::config {

// "512", "8k", "64kb", "1.5m", "2GB"; steps of 1024; also "inf" and "auto", as in memunits.
[[nodiscard]] std::optional<std::size_t> parse_bytes(std::string_view text) noexcept;
[[nodiscard]] std::string print_bytes(std::size_t bytes);

// Seconds from "10ms", "5us", "100ns", "1.5s", "1m", "1h" or a plain number of seconds; "inf" and
// "auto" as infinity and NaN.
[[nodiscard]] std::optional<double> parse_seconds(std::string_view text) noexcept;
[[nodiscard]] std::string print_seconds(double seconds);

// Bytes per second from "12179MBs", "10GB/s", "100Gbps" (a small b before the end: bits) or a size
// as above; "auto" as NaN.
[[nodiscard]] std::optional<double> parse_rate(std::string_view text) noexcept;
[[nodiscard]] std::string print_rate(double bytes_per_second);

}  // namespace ucs::config
