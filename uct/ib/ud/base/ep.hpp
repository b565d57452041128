// Base of the endpoints of unreliable datagrams.
#pragma once

#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

// Holds the connection of the endpoint and ends it. Owner context.
class ep : public base_ep {
public:
    ep(iface& owner, std::unique_ptr<connection> made) noexcept;
    ~ep() override;

    ucs_status_t flush(completion* done) final;
    void check() noexcept final;
    [[nodiscard]] std::string peer_name() const final;
    void describe(ucs::vfs::directory& into) const override;

protected:
    // Returns true if a message of `packets` packets may be sent now. If not, `reason_not_to_send`
    // returns the status for the caller.
    [[nodiscard]] bool may_send(std::uint32_t packets) const noexcept {
        return connection_->protocol.can_accept(packets) && owner().sends().has_room() &&
               !must_queue();
    }
    [[nodiscard]] ucs_status_t reason_not_to_send() const noexcept {
        const ucs_status_t error = connection_->protocol.error();
        return error == UCS_OK ? UCS_ERR_NO_RESOURCE : error;
    }
    [[nodiscard]] iface& owner() const noexcept { return static_cast<iface&>(iface_); }

    std::unique_ptr<connection> connection_;
};

}  // namespace uct::ud
