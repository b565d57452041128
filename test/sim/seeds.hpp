// Programs that run many seeds: command line and report of a failure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sim_test {

struct outcome {
    std::string violation;  // empty: the run passed
    std::string details;    // state of the workers and the last events
    std::uint64_t digest = 0;
    std::size_t operations = 0;
};

// A test program that runs seeds. Profiles are indices into `profiles`.
struct seed_program {
    const char* name;
    std::span<const char* const> profiles;
    // Describes the scenario of a seed in one line.
    std::string (*text)(std::uint64_t seed, std::size_t profile);
    outcome (*run)(std::uint64_t seed, std::size_t profile);
    // Every seed that this number divides runs twice, and both runs must have the same digest; 0:
    // none.
    std::uint64_t repeats_every = 0;
};

// Runs the program: main() returns its result.
int run_seeds(int argc, char** argv, const seed_program& program);

}  // namespace sim_test
