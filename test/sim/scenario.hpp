// What one seed means: the network, the options, the mix of operations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "uct/sim/parameters.hpp"

namespace sim_test {

// How much goes wrong. The more does, the less can be demanded of each message.
enum class profile : std::uint8_t {
    orderly,   // endpoints are closed at the end only: every message arrives
    closing,   // closed by flush at any moment, without error handling: every message arrives
    abrupt,    // closed in both modes at any moment, with and without error handling
    failures,  // links break and workers die
};

inline constexpr const char* profile_names[] = {"orderly", "closing", "abrupt", "failures"};

struct scenario {
    std::uint64_t seed = 0;
    profile kind = profile::orderly;
    std::size_t workers = 2;
    std::size_t actions = 0;  // of each worker
    bool shared_context = false;
    double peer_mode = 0;          // probability that an endpoint has error handling
    double remote = 0;             // of the actions on messages, those on memory instead
    double streams = 0;            // and of those, those on byte streams
    std::size_t slice_length = 0;  // of memory that each worker writes at each other
    double sockets = 0;            // of the new endpoints, those by socket address
    double breaking = 0;           // of their sockets, those that break before they are through
    double paired = 0;  // of the processes, those with a second transport, whose endpoints come in
                        // pairs
    uct::sim::parameters network;
    std::vector<std::pair<std::string, std::string>> options;

    // A pure function of the seed.
    static scenario of(std::uint64_t seed, profile kind);
    // One line for people.
    [[nodiscard]] std::string text() const;
};

}  // namespace sim_test
