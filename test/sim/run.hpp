// One run of a scenario.
#pragma once

#include "test/sim/scenario.hpp"
#include "test/sim/seeds.hpp"

namespace sim_test {

[[nodiscard]] outcome run(const scenario& plan);

}  // namespace sim_test
