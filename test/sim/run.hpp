// One run of a scenario.
#pragma once

#include <string>

#include "test/sim/scenario.hpp"

namespace sim_test {

struct outcome {
    std::string violation;  // empty: everything was as it must be
    std::string details;    // state of the workers and the last events
    std::uint64_t digest = 0;
    std::size_t operations = 0;
};

[[nodiscard]] outcome run(const scenario& plan);

}  // namespace sim_test
