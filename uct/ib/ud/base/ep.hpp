// Sends datagrams to one peer.
#pragma once

#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

// What all endpoints of unreliable datagrams share: the connection and its end. Owner context.
class ep : public base_ep {
public:
    ep(iface& owner, std::unique_ptr<connection> made) noexcept;
    ~ep() override;

    ucs_status_t flush(completion* done) final;
    void check() noexcept final;
    [[nodiscard]] std::string peer_name() const final;
    void describe(ucs::vfs::directory& into) const override;

protected:
    // Whether a message of so many packets may be sent now, and if not, what to say.
    [[nodiscard]] bool may_send(std::uint32_t packets) const noexcept {
        return connection_->protocol.takes(packets) && owner().sends().has_room() && !must_queue();
    }
    [[nodiscard]] ucs_status_t why_not() const noexcept {
        const ucs_status_t error = connection_->protocol.error();
        return error == UCS_OK ? UCS_ERR_NO_RESOURCE : error;
    }
    [[nodiscard]] iface& owner() const noexcept { return static_cast<iface&>(iface_); }

    std::unique_ptr<connection> connection_;
};

}  // namespace uct::ud
