// One run of a plan.
#pragma once

#include "test/sim/seeds.hpp"
#include "test/sim/ucg/plan.hpp"

namespace group_sim {

[[nodiscard]] sim_test::outcome run(const plan& what);

}  // namespace group_sim
