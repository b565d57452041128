#include "uct/sim/paired_component.hpp"

#include <fmt/format.h>

#include "uct/sim/paired_domain.hpp"
#include "uct/sim/paired_iface.hpp"

namespace uct::sim {

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
