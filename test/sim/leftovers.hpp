// Describes what a worker still holds after all of its operations ended.
#pragma once

#include <string>

#include "ucp/core/worker.hpp"

namespace sim_test {

// Returns an empty string if nothing is left. `with_peers`: endpoints and peers count, too.
[[nodiscard]] std::string leftovers(ucp::worker& worker, bool with_peers = true);

}  // namespace sim_test
