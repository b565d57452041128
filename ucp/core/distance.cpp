#include "ucp/core/distance.hpp"

#include <algorithm>

#include "ucs/topology/device_location.hpp"
#include "ucs/topology/machine.hpp"

namespace ucp {
namespace {

constexpr double seconds_per_switch = 110e-9;

double seconds_between(const ucs::topology::machine& host, int from, int to) noexcept {
    constexpr unsigned local = 10;
    constexpr double seconds_per_unit = 90e-9 / local;
    const unsigned distance = from < 0 || to < 0 ? 0 : host.distance(from, to);
    return distance > local ? (distance - local) * seconds_per_unit : 0;
}

}  // namespace

double distance_seconds(const ucs::topology::machine& host, int from,
                        const ucs::topology::device_location& to) noexcept {
    return seconds_between(host, from, to.numa_node) + to.switches * seconds_per_switch;
}

std::vector<double> distances_to(std::span<const ucs::topology::device_location> devices) {
    std::vector<double> seconds(devices.size());
    // Most hosts have one node and no switches: their topology files need not be read.
    if (std::ranges::all_of(devices, [](const ucs::topology::device_location& each) {
            return each.numa_node < 0 && each.switches == 0;
        })) {
        return seconds;
    }
    const auto& host = ucs::topology::machine::host();
    const int bound = ucs::topology::memory_node();
    const int from = bound >= 0 ? bound : ucs::topology::current_node();
    std::ranges::transform(devices, seconds.begin(), [&](const ucs::topology::device_location& to) {
        return distance_seconds(host, from, to);
    });
    return seconds;
}

double connection_fetch_seconds(std::size_t at_hand, std::size_t expected) noexcept {
    constexpr double round_trip = 0.5e-6;
    return expected > at_hand ? 2 * round_trip : 0;
}

}  // namespace ucp
