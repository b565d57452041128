// Protocol tests on the simulated transport: runs scenarios of many seeds.
#include "test/sim/run.hpp"

namespace {

using namespace sim_test;

constexpr const char* names[] = {"orderly", "closing", "abrupt", "failures"};

}  // namespace

int main(int argc, char** argv) {
    return run_seeds(argc, argv,
                     {"ucp_sim", names,
                      [](std::uint64_t seed, std::size_t kind) {
                          return scenario::of(seed, all_profiles[kind]).text();
                      },
                      [](std::uint64_t seed, std::size_t kind) {
                          return run(scenario::of(seed, all_profiles[kind]));
                      }});
}
