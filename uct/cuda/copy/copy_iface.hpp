// Interface of the cuda_copy transport: copies between kinds of memory within this process.
#pragma once

#include "uct/cuda/base/cuda_iface.hpp"
#include "uct/cuda/copy/settings.hpp"

namespace uct::cuda {

// It gives access to the memory of its own process only, and carries no messages. Owned by the
// worker, owner context.
class copy_iface final : public cuda_iface {
public:
    static ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                    const iface_params& params);

    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;

private:
    copy_iface(const resource& where, const iface_params& params, const copy_settings& options);
};

}  // namespace uct::cuda
