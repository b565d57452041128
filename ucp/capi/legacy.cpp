#include "ucp/capi/legacy.hpp"

#include <sched.h>

namespace ucp::capi {

ucs_status_t wait_for(worker& owner, ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
    unsigned idle = 0;
    while (ucp_request_check_status(started) == UCS_INPROGRESS) {
        // The peer, or a thread that waits for the lock, may need this processor.
        if (ucp_worker_progress(handle(owner)) == 0 && ++idle % 1024 == 0) ::sched_yield();
    }
    const ucs_status_t status = ucp_request_check_status(started);
    ucp_request_free(started);
    return status;
}

}  // namespace ucp::capi
