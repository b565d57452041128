// Parser of the configuration file ucx.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucs::config {

// The facts that section filters are compared with.
struct machine_facts {
    std::string cpu_vendor;  // "Intel"
    std::string cpu_model;   // "Skylake"
};

// The settings of a file in their order, and the number of malformed lines.
struct ini_content {
    struct setting {
        std::string name;  // without UCX_
        std::string text;
        unsigned line;
    };
    std::vector<setting> settings;
    unsigned bad_lines = 0;
    unsigned first_bad_line = 0;  // only its number; its text may hold a key
};

// Reads lines "UCX_NAME=value" or "NAME=value"; "#" and ";" begin comments. "[title]" begins a
// section: its lines apply if all its filters ("CPU vendor=...", "CPU model=...") match this
// machine. A section with an unknown filter does not apply.
[[nodiscard]] ini_content parse_ini(std::string_view text, const machine_facts& machine);

}  // namespace ucs::config
