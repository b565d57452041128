// The command line of ucg_sim.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ucg/schedule/call.hpp"
#include "ucg/sim/machine.hpp"

namespace tools::ucg_sim {

[[nodiscard]] inline ucg::sim::machine default_machine() {
    ucg::sim::machine made;
    made.ranks = 64;
    return made;
}

struct options {
    bool help = false;
    bool list = false;                                                                         // -l
    bool csv = false;                                                                          // -v
    std::vector<ucg::schedule::collective> collectives{ucg::schedule::collective::allreduce};  // -c
    std::string algorithm = "all";                                                             // -a
    std::vector<double> sizes{8, 1024, 65536, 1 << 20, 16 << 20};                              // -s
    ucg::schedule::rank_t root = 0;                                                            // -r
    ucg::schedule::tuning cutting;                                                             // -g -L
    std::uint64_t carried = 4096;                                                              // -m
    bool deterministic = false;                                                                // -D
    ucg::sim::machine on = default_machine();  // -n -p -i -e -R -C -d -S
};

// Throws usage_error that names what is wrong.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

}  // namespace tools::ucg_sim
