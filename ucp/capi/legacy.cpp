#include "ucp/capi/legacy.hpp"

#include <sched.h>

namespace ucp::capi {

ucs_status_t wait_for(worker& owner, ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
    ucs_status_t status;
    unsigned idle = 0;
    do {
        const worker_guard guard(owner.lock());
        // The peer may need this processor to get any further.
        if (owner.progress() == 0 && ++idle % 1024 == 0) ::sched_yield();
        status = ucp_request_check_status(started);
    } while (status == UCS_INPROGRESS);
    ucp_request_free(started);
    return status;
}

}  // namespace ucp::capi
