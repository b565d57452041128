#include "ucg/net/peers.hpp"

#include <utility>

#include "ucg/schedule/log.hpp"
#include "ucp/address/padded.hpp"
#include "ucp/capi/private_flags.hpp"

namespace ucg::net {

peers::~peers() {
    for (entry& each : entries_) {
        if (each.endpoint != nullptr) begin_close(each, UCP_EP_CLOSE_FLAG_FORCE);
        if (UCS_PTR_IS_PTR(each.closing)) ucp_request_free(each.closing);
    }
}

ucs::result<ucp_ep_h> peers::make(schedule::rank_t rank) noexcept {
    entry& peer = entries_[rank];
    // A failure that is received while the group is being closed is not passed on by a new
    // endpoint.
    if (peer.closing != nullptr) return UCS_ERR_CANCELED;
    std::span<const std::byte> address;
    const ucs_status_t status = addresses_.find(rank, address);
    if (status == UCS_INPROGRESS) {
        peer.awaited = true;
        return status;
    }
    peer.failure = status;
    if (status != UCS_OK) return status;
    peer.owner = this;
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_FLAGS;
    // Without this flag, the endpoint could share the connection of another group's endpoint at the
    // peer, and fail when that one closes.
    params.flags = ucp::capi::ep_flag_apart;
    const ucp::address::padded packed(address);
    params.address = packed.get();
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {on_error, &peer};
    peer.failure = ucp_ep_create(worker_, &params, &peer.endpoint);
    if (peer.failure != UCS_OK) return peer.failure;
    if (std::exchange(peer.awaited, false)) reached_(arg_, rank, peer.endpoint);
    return peer.endpoint;
}

void peers::on_error(void* arg, ucp_ep_h, ucs_status_t why) {
    entry& peer = *static_cast<entry*>(arg);
    if (peer.failure != UCS_OK) return;
    peer.failure = why;
    peers& all = *peer.owner;
    all.unreported_.push_back(static_cast<schedule::rank_t>(&peer - all.entries_.data()));
}

unsigned peers::report_lost() noexcept {
    unsigned reported = 0;
    for (; !unreported_.empty(); ++reported) {
        const schedule::rank_t lost = unreported_.back();
        unreported_.pop_back();
        lost_(arg_, lost, entries_[lost].failure);
    }
    return reported;
}

void peers::give_up(schedule::rank_t rank) noexcept {
    entry& peer = entries_[rank];
    if (peer.failure != UCS_OK || peer.endpoint == nullptr) return;
    ucs::log::error(net_log,
                    "rank {} does not take what was sent to it for an operation that failed; it is "
                    "given up in this group",
                    rank);
    peer.failure = UCS_ERR_TIMED_OUT;
    begin_close(peer, UCP_EP_CLOSE_FLAG_FORCE);
    lost_(arg_, rank, peer.failure);
}

void peers::mark_left(schedule::rank_t rank) noexcept {
    entry& peer = entries_[rank];
    if (peer.failure != UCS_OK || peer.left) return;
    peer.left = true;
    lost_(arg_, rank, UCS_ERR_CONNECTION_RESET);
}

void peers::begin_close(entry& peer, unsigned flags) noexcept {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    peer.closing = ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &param);
}

bool peers::close() noexcept {
    bool closed = true;
    for (entry& each : entries_) {
        if (each.endpoint != nullptr)
            begin_close(each, each.failure == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE);
        if (!UCS_PTR_IS_PTR(each.closing)) continue;
        if (ucp_request_check_status(each.closing) == UCS_INPROGRESS) {
            closed = false;
        } else {
            ucp_request_free(std::exchange(each.closing, nullptr));
        }
    }
    return closed;
}

}  // namespace ucg::net
