// The simulated transport as a component.
#pragma once

#include "uct/api/component.hpp"
#include "uct/sim/fabric.hpp"

namespace uct::sim {

// Opens interfaces on one fabric: resource "sim", device "node". The component is not in the
// registry; a test passes it to code that takes a list of components. Owned by the test, destroyed
// before the fabric.
class sim_component final : public component {
public:
    explicit sim_component(fabric& network) noexcept : fabric_(network) {}

    const char* name() const noexcept override { return "sim"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    listing query(const ucs::config::source& config) const override;
    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override;

private:
    fabric& fabric_;
};

// Opens interfaces on one fabric: resource "simrc", device "rnode". They simulate an RDMA device:
// they are faster than those of sim_component, which may be on the same fabric, but their endpoints
// must be connected over another transport. The component is not in the registry; a test passes it
// to code that takes a list of components. Owned by the test, destroyed before the fabric.
class paired_component final : public component {
public:
    explicit paired_component(fabric& network) noexcept : fabric_(network) {}

    const char* name() const noexcept override { return "simrc"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    listing query(const ucs::config::source& config) const override;
    ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource& where, const ucs::config::source& config) const override;
    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override;

private:
    fabric& fabric_;
};

}  // namespace uct::sim
