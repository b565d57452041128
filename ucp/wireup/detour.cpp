#include "ucp/wireup/detour.hpp"

#include <algorithm>

#include "ucs/topology/machine.hpp"

namespace ucp::wireup {

double detour_seconds(const ucs::topology::machine& here, int from, int to) noexcept {
    constexpr unsigned local = 10;
    constexpr double seconds_per_unit = 90e-9 / local;
    const unsigned distance = from < 0 || to < 0 ? 0 : here.distance(from, to);
    return distance > local ? (distance - local) * seconds_per_unit : 0;
}

std::vector<double> detours_to(std::span<const int> nodes) {
    std::vector<double> seconds(nodes.size());
    if (std::ranges::all_of(nodes, [](int node) { return node < 0; })) return seconds;
    const ucs::topology::machine here = ucs::topology::machine::read();
    const int from = ucs::topology::current_node();
    std::ranges::transform(nodes, seconds.begin(),
                           [&](int to) { return detour_seconds(here, from, to); });
    return seconds;
}

}  // namespace ucp::wireup
