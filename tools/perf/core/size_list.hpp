// The size list of -s.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tools::perf {

inline constexpr std::size_t max_pieces = 4096;
inline constexpr std::size_t max_message = std::size_t{1} << 40;

// "8", "64k", "16,48,8192", and "1024:16" for sixteen pieces of 1024 bytes. Throws usage_error
// that names the wrong piece. At most max_pieces pieces and max_message bytes.
[[nodiscard]] std::vector<std::size_t> parse_size_list(std::string_view text);

// The shortest text that parse_size_list reads back to the same list.
[[nodiscard]] std::string print_size_list(const std::vector<std::size_t>& sizes);

}  // namespace tools::perf
