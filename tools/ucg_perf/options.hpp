// The command line of ucg_perf.
#pragma once

#include <ucg/api/ucg.h>

#include "tools/common/command_line.hpp"

namespace tools::ucg_perf {

// The kind of calls that run an operation.
enum class mode : std::uint8_t { persistent, blocking };

struct options {
    standard_options standard;                        // -h, --help, --version, --csv, --json
    bool list = false;                                // -l
    std::vector<ucg_coll_t> collectives;              // -c
    std::vector<std::uint64_t> sizes;                 // -s, bytes, ascending in each range
    std::vector<std::string> algorithms;              // -a; none: the library chooses
    std::optional<std::uint64_t> iterations;          // -n; none: as many as fit `seconds`
    std::optional<std::uint64_t> warm_up;             // -w
    double seconds = 0.5;                             // -t, of each row
    ucg_type_t type = UCG_TYPE_FP32;                  // -d
    ucg_op_t op = UCG_OP_SUM;                         // -o
    std::uint32_t root = 0;                           // -r
    bool in_place = false;                            // -i
    bool deterministic = false;                       // -D
    mode call_mode = mode::persistent;                // -m
    std::uint32_t in_flight = 1;                      // -W
    std::uint32_t buffers = 1;                        // -b, at least in_flight
    bool validate = false;                            // -V
    bool validate_once = false;                       // -x
    double limit = 0;                                 // -T, seconds of an operation; 0: none
    std::uint32_t ranks = 0;                          // -p; 0: others start them
    std::optional<std::vector<unsigned>> processors;  // -C; empty: all that this process may use
    std::vector<std::string> arguments;               // all words as given
    bool quiet = false;                               // -q
    bool verbose = false;                             // -v
};

// Throws usage_error that names the wrong option.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();
// Lists the names that the options accept.
[[nodiscard]] std::string list_text();

}  // namespace tools::ucg_perf
