// Interface of the cma transport: offers this process's memory to peers.
#pragma once

#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"
#include "uct/base/base_iface.hpp"
#include "uct/sm/base/host.hpp"

namespace uct::cma {

// The values of UCX_CMA_*. Plain value, read once per interface.
struct config {
    static constexpr std::size_t default_segment = std::size_t{1} << 20;
    static constexpr double default_bandwidth = 11.0 * (std::size_t{1} << 30);

    ucs::config::memunits seg_size;
    bool allow_peers = false;
    ucs::config::duration latency;
    ucs::config::rate bandwidth;
    ucs::config::duration overhead;

    [[nodiscard]] static const ucs::config::table& options();
};

// It only gives access to remote memory: nothing is received or polled. Its address holds a random
// cookie by which peers make sure that they access the right process. Owned by the worker, owner
// context.
class cma_iface final : public base_iface {
public:
    static ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                    const iface_params& params);

    unsigned progress() override { return dispatch_waiting(); }
    // Each operation ends in its call, so no peer has to be woken.
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
