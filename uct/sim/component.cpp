#include "uct/sim/component.hpp"

#include <fmt/format.h>

#include "uct/sim/iface.hpp"
#include "uct/sim/paired_domain.hpp"
#include "uct/sim/paired_iface.hpp"

namespace uct::sim {

listing sim_component::query(const ucs::config::source&) const {
    listing all;
    const unsigned count = fabric_.network().devices;
    for (unsigned i = 0; i < count; ++i) {
        all.usable.push_back({.transport = "sim",
                              .device = count == 1 ? "node" : "node" + std::to_string(i),
                              .type = device_type::simulated});
    }
    return all;
}

ucs::result<std::unique_ptr<iface>> sim_component::open(const resource& where,
                                                        const iface_params& params) const {
    return std::unique_ptr<iface>(std::make_unique<sim_iface>(where, params, fabric_));
}

listing paired_component::query(const ucs::config::source&) const {
    listing found;
    const unsigned devices = fabric_.network().paired.devices;
    for (unsigned i = 0; i < devices; ++i) {
        found.usable.push_back({.transport = name(),
                                .device = devices == 1 ? "rnode" : fmt::format("rnode{}", i),
                                .type = device_type::simulated,
                                .paired = true});
    }
    return found;
}

ucs::result<std::shared_ptr<memory_domain>> paired_component::open_domain(
    const resource&, const ucs::config::source&) const {
    return std::shared_ptr<memory_domain>(std::make_shared<paired_domain>(fabric_));
}

ucs::result<std::unique_ptr<iface>> paired_component::open(const resource& where,
                                                           const iface_params& params) const {
    return std::unique_ptr<iface>(std::make_unique<paired_iface>(where, params, fabric_));
}

}  // namespace uct::sim
