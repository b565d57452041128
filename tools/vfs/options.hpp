// The command line of ucx_vfs.
#pragma once

#include "tools/common/command_line.hpp"

namespace tools::vfs {

enum class action { start, stop };

struct options {
    standard_options standard;  // -h, --help, --version
    action command = action::start;
    std::string folder = "/tmp/ucx";
    std::string mount_options;
    bool foreground = false;
    bool verbose = false;
};

// Throws usage_error.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

}  // namespace tools::vfs
