// Starts operations on remote memory that do not complete inside their call.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/remote_op.hpp"

namespace ucp {

// `describe` fills in the request, or returns the status with which the operation is refused. Owner
// context.
template<class Describe>
ucs_status_ptr_t begin_remote(ep& endpoint, const operation& params, const Describe& describe) {
    request* const fresh = begin_call(endpoint.owner(), params);
    if (fresh == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    set_send_callback(*fresh, params);
    const ucs_status_t status = describe(*fresh);
    if (status != UCS_OK) return abandon_call(*fresh, status);
    const auto& state = fresh->as<remote_op>();
    const bool moves_nothing = state.kind != send_kind::atomic && state.buffer.length() == 0;
    const bool waits = state.window == nullptr || !open_directly(endpoint);
    if (moves_nothing && endpoint.failure() == UCS_OK) {
        complete(*fresh, UCS_OK);
    } else if (waits && params.force_immediate()) {
        return abandon_call(*fresh, refuse_immediate(endpoint));
    } else {
        submit_remote(endpoint, *fresh);
    }
    return end_call(*fresh, params);
}

}  // namespace ucp
