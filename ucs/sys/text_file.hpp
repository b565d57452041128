// One-line files of /proc and /sys: the kernel's, so their owner is not asked. Other files are
// opened by trusted_file.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ucs::sys {

// First 64 KB of a file without trailing white space; nothing when it cannot be read (many files
// of /sys exist and refuse, so nothing is logged here).
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);

// The file's decimal number, nothing when it holds something else.
[[nodiscard]] std::optional<long long> read_number(const std::string& path);

// "0-3,8,10-11" as 0 1 2 3 8 10 11; nothing when malformed or beyond CPU 65535.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text);

// Names in a folder, sorted, without "." and ".."; empty when there is no such folder.
[[nodiscard]] std::vector<std::string> list_folder(const std::string& path);

// The absolute path behind all links; nothing when it does not exist.
[[nodiscard]] std::optional<std::string> real_path(const std::string& path);

// The last part of a path.
[[nodiscard]] std::string_view base_name(std::string_view path) noexcept;

}  // namespace ucs::sys
