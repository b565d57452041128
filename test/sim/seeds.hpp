// Programs that run many seeds: their command line, and what they say of a failure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sim_test {

struct outcome {
    std::string violation;  // empty: everything was as it must be
    std::string details;    // state of the workers and the last events
    std::uint64_t digest = 0;
    std::size_t operations = 0;
};

// One such program. Profiles are numbers of `profiles`.
struct seed_program {
    const char* name;
    std::span<const char* const> profiles;
    // What the seed means, in a line.
    std::string (*text)(std::uint64_t seed, std::size_t profile);
    outcome (*run)(std::uint64_t seed, std::size_t profile);
    // Every so many seeds one is run twice, and must take the same way; 0: never.
    std::uint64_t repeats_every = 0;
};

// The program's main().
int run_seeds(int argc, char** argv, const seed_program& what);

}  // namespace sim_test
