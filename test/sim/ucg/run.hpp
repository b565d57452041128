// Runs one plan.
#pragma once

#include "test/sim/seeds.hpp"
#include "test/sim/ucg/plan.hpp"

namespace group_sim {

[[nodiscard]] sim_test::outcome run(const plan& run_plan);

}  // namespace group_sim
