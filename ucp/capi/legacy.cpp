#include "ucp/capi/legacy.hpp"

namespace ucp::capi {

ucs_status_t wait_for(worker& owner, ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
    ucs_status_t status;
    do {
        const worker_guard guard(owner.lock());
        owner.progress();
        status = ucp_request_check_status(started);
    } while (status == UCS_INPROGRESS);
    ucp_request_free(started);
    return status;
}

}  // namespace ucp::capi
