// The format of ucx.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucs::config {

// What section filters compare with.
struct machine_facts {
    std::string cpu_vendor;  // "Intel"
    std::string cpu_model;   // "Skylake"
};

// Result of reading a file: settings in its order, and how many lines made no sense.
struct ini_content {
    struct setting {
        std::string name;  // without UCX_
        std::string text;
        unsigned line;
    };
    std::vector<setting> settings;
    unsigned bad_lines = 0;
    unsigned first_bad_line = 0;  // its text is not kept: it may hold a key
};

// Reads lines "UCX_NAME=value" or "NAME=value"; "#" and ";" begin comments. "[title]" begins a
// section: the lines after it count when all its filters ("CPU vendor=...", "CPU model=...")
// name this machine. A section with a filter that is not known does not count.
[[nodiscard]] ini_content parse_ini(std::string_view text, const machine_facts& machine);

}  // namespace ucs::config
