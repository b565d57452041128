// The scenario of a seed: the network, the options and the mix of operations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "uct/sim/parameters.hpp"

namespace sim_test {

// Kinds of failures in a run. A run with more failures can demand less of each message.
enum class profile : std::uint8_t {
    orderly,  // endpoints close at the end only: every message arrives
    closing,  // endpoints close by flush at any time, without error handling: every message arrives
    abrupt,   // endpoints close in both modes at any time, with and without error handling
    failures,  // links break and workers die
};

inline constexpr const char* profile_names[] = {"orderly", "closing", "abrupt", "failures"};

struct scenario {
    std::uint64_t seed = 0;
    profile kind = profile::orderly;
    std::size_t workers = 2;
    std::size_t actions = 0;  // per worker
    bool shared_context = false;
    double peer_mode = 0;          // probability that an endpoint has error handling
    double remote = 0;             // fraction of message operations that access memory instead
    double streams = 0;            // fraction of the remaining ones that use byte streams instead
    std::size_t slice_length = 0;  // bytes that each worker writes at each other worker
    double sockets = 0;            // fraction of new endpoints that connect by socket address
    double breaking = 0;           // fraction of their sockets that break during connection set-up
    double paired = 0;             // fraction of processes with the second (paired) transport
    uct::sim::parameters network;
    std::vector<std::pair<std::string, std::string>> options;

    // A pure function of the seed and the profile.
    static scenario of(std::uint64_t seed, profile kind);
    // One line for the log.
    [[nodiscard]] std::string text() const;
};

}  // namespace sim_test
