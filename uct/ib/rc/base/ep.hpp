// Base of the endpoints of reliable connections.
#pragma once

#include "uct/ib/rc/base/iface.hpp"

namespace uct::rc {

// Holds the connection with its flow control, and ends it. Owner context.
class ep : public base_ep {
public:
    ep(iface& owner, const ib::address& peer, std::unique_ptr<connection> made) noexcept;
    ~ep() override;

    void pack_connection(std::span<std::byte> into) const final {
        connection_->queue().pair.data().pack(into);
    }
    ucs_status_t connect_to(std::span<const std::byte> peer_data) final;
    ucs_status_t flush(completion* done) final;
    void check() noexcept final;
    void abort() noexcept final;
    [[nodiscard]] std::string peer_name() const final;
    void describe(ucs::vfs::directory& into) const override;
    [[nodiscard]] iface& owner() noexcept { return static_cast<iface&>(iface_); }

protected:
    // Returns true if a message may be sent now. If not, `reason_not_to_send` returns the status
    // for the caller.
    [[nodiscard]] bool may_send() const noexcept {
        return may_access() && connection_->flow.open() && !must_queue();
    }
    // Returns true if remote memory may be accessed now. Queued messages do not prevent that.
    [[nodiscard]] bool may_access() const noexcept {
        return connection_->connected() && connection_->queue().has_room();
    }
    [[nodiscard]] ucs_status_t reason_not_to_send() const noexcept {
        return connection_->error() == UCS_OK ? UCS_ERR_NO_RESOURCE : connection_->error();
    }
    // Returns the first byte of the next message.
    [[nodiscard]] std::uint8_t header(am_id id) const noexcept {
        return static_cast<std::uint8_t>(id | connection_->flow.bits_of_next() << wire::flow_shift);
    }
    // Posts a request; see connection::post. Returns the endpoint's error.
    ucs_status_t post(ibv_send_wr& request, bool wanted) noexcept {
        if (connection_->post(request, wanted)) [[likely]]
            return UCS_OK;
        owner().handle_failure(*connection_);
        return connection_->error();
    }
    // Posts a request and a message after it; see connection::post_pair.
    ucs_status_t post_pair(ibv_send_wr& first, ibv_send_wr& message, tx_op& op) noexcept {
        const bool taken = connection_->post_pair(first, message, op);
        if (connection_->error() != UCS_OK) [[unlikely]]
            owner().handle_failure(*connection_);
        if (taken) connection_->flow.sent();
        return taken ? UCS_OK : connection_->error();
    }
    ucs_status_t post_message(ibv_send_wr& request, bool wanted) noexcept {
        const ucs_status_t status = post(request, wanted);
        if (status == UCS_OK) connection_->flow.sent();
        return status;
    }

    const ib::address peer_;
    std::unique_ptr<connection> connection_;
};

}  // namespace uct::rc
