// Interface of the cuda_ipc transport: device memory of processes of this host.
#pragma once

#include "uct/cuda/base/cuda_iface.hpp"
#include "uct/cuda/ipc/domain.hpp"

namespace uct::cuda {

// It gives access to remote memory, and carries no messages. Owned by the worker, owner context.
class ipc_iface final : public cuda_iface {
public:
    static ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                    const iface_params& params);

    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;
    [[nodiscard]] memory_domain* domain() noexcept override { return domain_.get(); }

private:
    ipc_iface(const resource& where, const iface_params& params, const ipc_settings& options,
              std::shared_ptr<ipc_domain> domain);

    const std::shared_ptr<ipc_domain> domain_;
    const unsigned max_streams_;
};

}  // namespace uct::cuda
