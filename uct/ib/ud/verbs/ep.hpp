// Endpoint of the ud_verbs transport.
#pragma once

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/verbs/iface.hpp"

namespace uct::ud {

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
