// Sends over one reliable connection.
#pragma once

#include "uct/ib/rc/base/iface.hpp"

namespace uct::rc {

// What all endpoints of reliable connections share: the connection, its flow and its end. Owner
// context.
class ep : public base_ep {
public:
    ep(iface& owner, const ib::address& peer, std::unique_ptr<connection> made) noexcept;
    ~ep() override;

    void pack_connection(std::span<std::byte> into) const final {
        connection_->pair().data().pack(into);
    }
    ucs_status_t connect_to(std::span<const std::byte> theirs) final;
    ucs_status_t flush(completion* done) final;
    void check() noexcept final;
    void abort() noexcept final;
    [[nodiscard]] std::string peer_name() const final;
    void describe(ucs::vfs::directory& into) const override;
    [[nodiscard]] iface& owner() noexcept { return static_cast<iface&>(iface_); }

protected:
    // Whether a message may go now, and if not, what to say.
    [[nodiscard]] bool may_send() const noexcept {
        return may_access() && connection_->flow().open() && !must_queue();
    }
    // Whether remote memory may be touched now; no queue of messages is in its way.
    [[nodiscard]] bool may_access() const noexcept {
        return connection_->connected() && connection_->has_room();
    }
    [[nodiscard]] ucs_status_t why_not() const noexcept {
        return connection_->error() == UCS_OK ? UCS_ERR_NO_RESOURCE : connection_->error();
    }
    // First byte of the next message.
    [[nodiscard]] std::uint8_t header(am_id id) const noexcept {
        return static_cast<std::uint8_t>(id | connection_->flow().bits_of_next()
                                                  << wire::flow_shift);
    }
    // Hands a request to the device; see connection::post. The status is the endpoint's error.
    ucs_status_t post(ibv_send_wr& request, bool wanted) noexcept {
        if (connection_->post(request, wanted)) [[likely]]
            return UCS_OK;
        owner().look_after(*connection_);
        return connection_->error();
    }
    // A request and a message behind it; see connection::post_pair.
    ucs_status_t post_pair(ibv_send_wr& first, ibv_send_wr& message, tx_op& op) noexcept {
        const bool taken = connection_->post_pair(first, message, op);
        if (connection_->error() != UCS_OK) [[unlikely]]
            owner().look_after(*connection_);
        if (taken) connection_->flow().sent();
        return taken ? UCS_OK : connection_->error();
    }
    ucs_status_t post_message(ibv_send_wr& request, bool wanted) noexcept {
        const ucs_status_t status = post(request, wanted);
        if (status == UCS_OK) connection_->flow().sent();
        return status;
    }

    const ib::address peer_;
    std::unique_ptr<connection> connection_;
};

}  // namespace uct::rc
