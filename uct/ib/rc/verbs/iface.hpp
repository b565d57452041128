// Interface of the rc_verbs transport.
#pragma once

#include "uct/ib/rc/base/iface.hpp"
#include "uct/ib/rc/verbs/descriptors.hpp"

namespace uct::rc {

// Reliable connections whose work requests are posted by libibverbs, on any device. Owned by the
// worker; owner context.
class verbs_iface final : public iface {
public:
    static ucs::result<std::unique_ptr<uct::iface>> open(const resource& where,
                                                         const iface_params& params);
    ~verbs_iface() override;

    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte> address) override;
    void describe(ucs::vfs::directory& into) const override;

    [[nodiscard]] descriptors& pools() noexcept { return pools_; }
    // Bytes of inline data that every queue pair of this interface can carry.
    [[nodiscard]] std::size_t inline_bytes() const noexcept { return inline_bytes_; }

private:
    verbs_iface(const resource& where, const iface_params& params, parts made);
    ucs_status_t find_limits();

    descriptors pools_;
    std::size_t inline_bytes_ = 0;
};

}  // namespace uct::rc
