#include "uct/sim/component.hpp"

#include "uct/sim/iface.hpp"

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

}  // namespace uct::sim
