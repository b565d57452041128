// Interface of the ud_verbs transport.
#pragma once

#include "uct/ib/ud/base/ep.hpp"
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

// Turns messages into packets. Owner context.
class verbs_ep final : public ep {
public:
    using ep::ep;

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;
    ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) override;

private:
    [[nodiscard]] verbs_iface& own() noexcept { return static_cast<verbs_iface&>(iface_); }
    // Sends a message that may need several packets.
    ssize_t in_parts(am_id id, pack_function pack, void* arg);
};

}  // namespace uct::ud
