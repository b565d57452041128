// Reads short files of /proc and /sys. They belong to the kernel, so their owner is not checked;
// trusted_file.hpp opens other files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ucs::sys {

// Returns the first 64 KB of a file without trailing white space; nullopt if it cannot be read.
// Does not log, because many files of /sys exist but cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);

// Returns the file's decimal number; nullopt if it holds something else.
[[nodiscard]] std::optional<long long> read_number(const std::string& path);

// Parses "0-3,8,10-11" as 0 1 2 3 8 10 11. Returns nullopt if it is malformed or beyond CPU 65535.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text);

// Returns the names in a folder, sorted, without "." and ".."; empty if the folder does not exist.
[[nodiscard]] std::vector<std::string> list_folder(const std::string& path);

// Returns the absolute path with all links resolved; nullopt if it does not exist.
[[nodiscard]] std::optional<std::string> real_path(const std::string& path);

// Returns the last part of a path.
[[nodiscard]] std::string_view base_name(std::string_view path) noexcept;

}  // namespace ucs::sys
