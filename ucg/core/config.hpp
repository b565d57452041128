// Options of the collective layer, UCG_* in the environment.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ucg/schedule/call.hpp"
#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"

namespace ucg {

// One member for each option. The table in config.cpp has their names and help texts.
struct config {
    std::string node_id;
    bool node_engine = true;
    ucs::config::memunits slot_size;
    unsigned slots = 64;
    std::string numa_id;
    ucs::config::memunits numa_level;
    ucs::config::memunits single_copy;
    ucs::config::memunits segment;
    unsigned leaders = 0;
    unsigned rails = 1;
    ucs::config::duration timeout;
    bool check = false;
    // Options of libucg_mpi, which reads them itself. They are listed here for help texts, and so
    // that nothing warns of them as unknown.
    bool mpi = true;
    bool mpi_eager = false;
    bool mpi_stats = false;
    ucs::config::ternary lazy_addresses = ucs::config::ternary::automatic;
    ucs::config::duration latency;
    ucs::config::rate bandwidth;
    ucs::config::ternary random_job_key = ucs::config::ternary::no;
    // Unused. The UCG_OOB_* options are bound to this member, so that nothing warns of them as
    // unknown; ucg_oob_create_env() reads them.
    std::string bootstrap;
    // For each collective, the rules that choose its algorithm (select/rules.hpp).
    std::array<std::string, schedule::collective_count> algorithms;

    static const ucs::config::table& options();

    // Returns a hash of the options that must be the same on all ranks of a group, because each
    // rank chooses algorithms and the layout of shared memory by its own options. The ranks compare
    // their hashes when the group is made.
    [[nodiscard]] std::uint64_t common() const noexcept;

    // Returns the sizes for algorithms.
    [[nodiscard]] schedule::tuning sizes() const noexcept;

    // Returns whether a group of this many ranks looks up the address of a rank when something is
    // first sent to it, if the out-of-band exchange has lookups. Otherwise the ranks exchange all
    // addresses when the group is made.
    [[nodiscard]] bool is_lazy(std::uint32_t ranks) const noexcept;

    // Reads the options from the environment, and warns of unknown ones.
    static ucs::result<config> read();
};

}  // namespace ucg
