// Options of the collective layer, UCG_* in the environment.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ucg/schedule/call.hpp"
#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"

namespace ucg {

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
    // For libucg_mpi, which reads them itself.
    bool mpi = true;
    bool mpi_eager = false;
    bool mpi_stats = false;
    ucs::config::ternary lazy_addresses = ucs::config::ternary::automatic;
    ucs::config::duration latency;
    ucs::config::rate bandwidth;
    ucs::config::ternary random_job_key = ucs::config::ternary::no;
    std::string bootstrap;  // makes the names known; ucg_oob_create_env() reads them
    // By collective: which algorithm to use (select/rules.hpp).
    std::array<std::string, schedule::collective_count> algorithms;

    static const ucs::config::table& options();

    // Returns a hash of all options that must be the same on every rank, because ranks choose
    // algorithms by them.
    [[nodiscard]] std::uint64_t common() const noexcept;

    // Returns whether a group of this many ranks looks up addresses when it needs them, if it can.
    [[nodiscard]] bool is_lazy(std::uint32_t ranks) const noexcept;

    // Reads the options from the environment, and warns of unknown ones.
    static ucs::result<config> read();
};

}  // namespace ucg
