// Which program this is, and which libraries it has loaded.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tools {

// A shared library as this process has loaded it.
struct library {
    std::string name;
    std::string version;
    std::string path;
};

// The library that holds `function`.
[[nodiscard]] library library_of(std::string name, std::string version, const void* function);

// The libucp of this process, which is loaded.
[[nodiscard]] library loaded_libucp();

// The text of --version: a line for the tool, and one for each library.
[[nodiscard]] std::string version_text(std::string_view tool, std::span<const library> libraries);

}  // namespace tools
