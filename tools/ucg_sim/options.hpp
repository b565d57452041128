// The command line of ucg_sim.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ucg/schedule/call.hpp"
#include "ucg/sim/machine.hpp"

namespace tools::ucg_sim {

struct options {
    bool help = false;
    bool list = false;                                                                         // -l
    bool csv = false;                                                                          // -v
    std::vector<ucg::schedule::collective> collectives{ucg::schedule::collective::allreduce};  // -c
    std::string algorithm = "all";                                                             // -a
    std::vector<double> sizes{8, 1024, 65536, 1 << 20, 16 << 20};                              // -s
    ucg::schedule::rank_t root = 0;                                                            // -r
    double segment = 128 * 1024;                                                               // -g
    std::uint64_t carried = 4096;                                                              // -m
    bool deterministic = false;                                                                // -D
    ucg::sim::machine on{64};  // -n -p -i -e -R -C -d -S
};

// Throws usage_error that names what is wrong.
[[nodiscard]] options parse_options(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

}  // namespace tools::ucg_sim
