// What a worker still holds when nothing is under way any more.
#pragma once

#include <string>

#include "ucp/core/worker.hpp"

namespace sim_test {

// Empty: nothing. `with_peers`: its connections, too.
[[nodiscard]] std::string leftovers(ucp::worker& of, bool with_peers = true);

}  // namespace sim_test
