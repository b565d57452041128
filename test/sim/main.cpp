// Protocol tests on the simulated transport: runs scenarios of many seeds.
#include "test/sim/run.hpp"

namespace {

using namespace sim_test;

scenario scenario_of(std::uint64_t seed, std::size_t kind) {
    return scenario::of(seed, static_cast<profile>(kind));
}

}  // namespace

int main(int argc, char** argv) {
    return run_seeds(
        argc, argv,
        {"ucp_sim", profile_names,
         [](std::uint64_t seed, std::size_t kind) { return scenario_of(seed, kind).text(); },
         [](std::uint64_t seed, std::size_t kind) { return run(scenario_of(seed, kind)); }});
}
