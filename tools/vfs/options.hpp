// The command line of ucx_vfs.
#pragma once

#include <span>
#include <string>

namespace tools::vfs {

enum class action { help, start, stop };

struct options {
    action what = action::help;
    std::string folder = "/tmp/ucx";
    std::string mount_options;
    bool foreground = false;
    bool verbose = false;
};

// Throws usage_error.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

}  // namespace tools::vfs
