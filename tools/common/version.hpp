// The versions of this program and of its loaded libraries.
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

// Returns the library that contains `function`.
[[nodiscard]] library library_of(std::string name, std::string version, const void* function);

// Returns the loaded libucp of this process.
[[nodiscard]] library loaded_libucp();

// Returns the text of --version: a line for the tool, and one for each library.
[[nodiscard]] std::string version_text(std::string_view tool, std::span<const library> libraries);

}  // namespace tools
