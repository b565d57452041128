// Interface of the ud_verbs transport.
#pragma once

#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

// Unreliable datagrams by libibverbs, on any device. Owned by the worker; owner context.
class verbs_iface final : public iface {
public:
    static ucs::result<std::unique_ptr<uct::iface>> open(const resource& where,
                                                         const iface_params& params);

    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte> address) override;

    // Buffer in which messages of several packets are packed.
    [[nodiscard]] std::span<std::byte> scratch() noexcept { return scratch_; }

private:
    verbs_iface(const resource& where, const iface_params& params, parts made);

    std::vector<std::byte> scratch_;
};

}  // namespace uct::ud
