#include "ucg/net/peers.hpp"

#include <utility>

#include "ucg/net/log.hpp"
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
    entry& which = entries_[rank];
    // What is heard while the group is closed is not passed on by a new endpoint.
    if (which.closing != nullptr) return UCS_ERR_CANCELED;
    std::span<const std::byte> address;
    const ucs_status_t status = contacts_.find(rank, address);
    if (status == UCS_INPROGRESS) {
        which.awaited = true;
        return status;
    }
    which.failure = status;
    if (status != UCS_OK) return status;
    which.of = this;
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_FLAGS;
    // Else it could be the other end of another group's endpoint, and fail when that one closes.
    params.flags = ucp::capi::ep_flag_apart;
    const ucp::address::padded packed(address);
    params.address = packed.get();
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {on_error, &which};
    which.failure = ucp_ep_create(worker_, &params, &which.endpoint);
    if (which.failure != UCS_OK) return which.failure;
    if (std::exchange(which.awaited, false)) reached_(arg_, rank, which.endpoint);
    return which.endpoint;
}

void peers::on_error(void* arg, ucp_ep_h, ucs_status_t why) {
    entry& which = *static_cast<entry*>(arg);
    if (which.failure != UCS_OK) return;
    which.failure = why;
    peers& all = *which.of;
    all.untold_.push_back(static_cast<schedule::rank_t>(&which - all.entries_.data()));
}

unsigned peers::tell_lost() noexcept {
    unsigned told = 0;
    for (; !untold_.empty(); ++told) {
        const schedule::rank_t lost = untold_.back();
        untold_.pop_back();
        lost_(arg_, lost, entries_[lost].failure);
    }
    return told;
}

void peers::give_up(schedule::rank_t rank) noexcept {
    entry& which = entries_[rank];
    if (which.failure != UCS_OK || which.endpoint == nullptr) return;
    ucs::log::error(net_log,
                    "rank {} does not take what was sent to it for an operation that failed; it is "
                    "given up in this group",
                    rank);
    which.failure = UCS_ERR_TIMED_OUT;
    begin_close(which, UCP_EP_CLOSE_FLAG_FORCE);
    lost_(arg_, rank, which.failure);
}

void peers::note_left(schedule::rank_t rank) noexcept {
    entry& which = entries_[rank];
    if (which.failure != UCS_OK || which.left) return;
    which.left = true;
    lost_(arg_, rank, UCS_ERR_CONNECTION_RESET);
}

void peers::begin_close(entry& which, unsigned flags) noexcept {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    which.closing = ucp_ep_close_nbx(std::exchange(which.endpoint, nullptr), &param);
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
