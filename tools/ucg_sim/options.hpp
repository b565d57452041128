// The command line of ucg_sim.
#pragma once

#include "tools/common/command_line.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/sim/machine.hpp"
#include "ucg/sim/moe_experiment.hpp"

namespace tools::ucg_sim {

[[nodiscard]] inline ucg::sim::machine default_machine() {
    ucg::sim::machine made;
    made.ranks = 64;
    return made;
}

struct options {
    standard_options standard;           // -h, --help, --version, --csv, --json
    bool list = false;                   // -l
    std::vector<std::string> arguments;  // all words as given
    std::vector<ucg::schedule::collective> collectives{ucg::schedule::collective::allreduce};  // -c
    std::vector<ucg::sim::exchange> exchanges;                     // -c as well
    ucg::sim::moe_experiment moe;                                  // -T -K -E
    std::string algorithm = "all";                                 // -a
    std::vector<double> sizes{8, 1024, 65536, 1 << 20, 16 << 20};  // -s
    ucg::schedule::rank_t root = 0;                                // -r
    ucg::schedule::tuning cutting;                                 // -g -L
    std::uint64_t carried = 4096;                                  // -m
    bool deterministic = false;                                    // -D
    bool table = false;                                            // -t
    bool steps = false;                                            // -k
    bool ports = false;                                            // -P
    std::string svg;                                               // -G
    std::vector<ucg::schedule::rank_t> groups{64};                 // -n
    std::vector<ucg::schedule::rank_t> node_sizes;                 // -N
    bool cyclic = false;                                           // -N
    ucg::sim::machine on =
        default_machine();  // -p -i -e -f -R -C -d -S; -n: the first number of ranks
};

// Returns the machine with `ranks` ranks, placed on nodes as the options say.
[[nodiscard]] ucg::sim::machine machine_of(const options& opts, ucg::schedule::rank_t ranks);

// Throws usage_error that names the wrong option.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

}  // namespace tools::ucg_sim
