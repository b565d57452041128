// Simulated interface with paired endpoints.
#pragma once

#include "uct/sim/iface.hpp"

namespace uct::sim {

// A node of a fabric that behaves like an RDMA device, including access to memory by keys. Owned by
// the worker; owner context.
class paired_iface final : public sim_iface {
public:
    paired_iface(const resource& where, const iface_params& params, fabric& network);

    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;
    [[nodiscard]] memory_domain* domain() noexcept override { return domain_.get(); }

private:
    const std::shared_ptr<memory_domain> domain_;
};

}  // namespace uct::sim
