// Command line of ucx_info, and its pages.
#pragma once

#include "tools/common/command_line.hpp"

namespace tools::info {

enum class device_kind : std::uint8_t { all, shm, net, self };
enum class placement : std::uint8_t { self, intra, inter };

struct options {
    standard_options standard;             // -h, --help, --version
    bool version = false;                  // -v
    bool devices = false;                  // -d
    std::string transport;                 // -t, empty: all
    bool build = false;                    // -b
    bool types = false;                    // -y
    bool system = false;                   // -s
    bool topology = false;                 // -T
    bool config = false;                   // -c
    bool documented = false;               // -f
    bool hidden = false;                   // -a
    bool commented = false;                // -C
    std::string filter;                    // -F, empty: everything
    bool context = false;                  // -p
    bool worker = false;                   // -w
    bool endpoint = false;                 // -e
    std::uint64_t features = 0;            // -u, UCP_FEATURE_*
    bool error_handling = false;           // 'e' of -u
    std::uint64_t endpoints = 1;           // -n
    std::uint64_t endpoints_per_node = 1;  // -N
    device_kind kinds = device_kind::all;  // -D
    placement peer = placement::self;      // -P

    [[nodiscard]] bool any_page() const noexcept {
        return version || devices || build || types || system || topology || config ||
               needs_features();
    }
    [[nodiscard]] bool needs_features() const noexcept { return context || worker || endpoint; }
};

// Throws usage_error.
[[nodiscard]] options parse_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string help_text();

// The pages of ucx_info. Each prints to stdout, and throws failure if it cannot.
void print_version();
void print_build();
void print_types();
void print_system();
void print_topology();
void print_config(const options& opts);
void print_devices(const options& opts);

// Prints the requested pages of a context, a worker and an endpoint.
void print_ucp(const options& opts);

}  // namespace tools::info
