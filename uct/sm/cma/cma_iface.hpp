// Offers this process's memory to peers, and reaches theirs.
#pragma once

#include "uct/base/base_iface.hpp"
#include "uct/sm/base/host.hpp"
#include "uct/sm/cma/config.hpp"

namespace uct::cma {

// Interface of the cma transport: remote memory only, nothing to receive and nothing to poll. Its
// address holds a random cookie by which peers make sure that they read the right process. Owned
// by the worker, owner context.
class cma_iface final : public base_iface {
public:
    static ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                    const iface_params& params);

    unsigned progress() override { return dispatch_waiting(); }
    // Every operation ends in its call: nobody has to be woken.
    [[nodiscard]] ucs_status_t arm() noexcept override { return fall_asleep(); }
    void pack_address(std::span<std::byte> into) const override;
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;

private:
    cma_iface(const resource& where, const iface_params& params, const config& options);

    const sm::host_identity host_;
    const std::size_t limit_;
    const std::uint64_t cookie_;
};

}  // namespace uct::cma
