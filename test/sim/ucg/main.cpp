// Test of groups on the simulated transport: runs the plans of many seeds.
#include "test/sim/ucg/run.hpp"

namespace {

using namespace group_sim;

plan plan_of(std::uint64_t seed, std::size_t kind) {
    return plan::generate(seed, static_cast<profile>(kind));
}

}  // namespace

int main(int argc, char** argv) {
    return sim_test::run_seeds(
        argc, argv,
        {"ucg_seeds", profile_names,
         [](std::uint64_t seed, std::size_t kind) { return plan_of(seed, kind).text(); },
         [](std::uint64_t seed, std::size_t kind) { return run(plan_of(seed, kind)); }, 50});
}
