// ucp_worker_h: sleep and wakeup.
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/wakeup/wait.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

// Peers do not wake a worker that was made without UCP_FEATURE_WAKEUP.
ucs_status_t check_wakeup(const char* call, ucp_worker_h handle) noexcept {
    if (handle == nullptr) return refuse(call, "worker is NULL");
    if (from(handle).params().wakeup) return UCS_OK;
    return refuse(call, "the context was made without UCP_FEATURE_WAKEUP");
}

}  // namespace

extern "C" {

ucs_status_t ucp_worker_get_efd(ucp_worker_h handle, int* fd) {
    if (const ucs_status_t status = check_wakeup("ucp_worker_get_efd", handle); status != UCS_OK) {
        return status;
    }
    if (fd == nullptr) return refuse("ucp_worker_get_efd", "fd is NULL");
    // Events then appear in the program's own epoll set.
    if (from(handle).params().event_fd >= 0) return UCS_ERR_UNSUPPORTED;
    *fd = from(handle).events().fd();
    return UCS_OK;
}

ucs_status_t ucp_worker_arm(ucp_worker_h handle) {
    if (const ucs_status_t status = check_wakeup("ucp_worker_arm", handle); status != UCS_OK) {
        return status;
    }
    worker& object = from(handle);
    const worker_guard guard(object.lock());
    return object.arm();
}

ucs_status_t ucp_worker_wait(ucp_worker_h handle) {
    const ucs_status_t status = check_wakeup("ucp_worker_wait", handle);
    return status == UCS_OK ? wakeup::wait(from(handle)) : status;
}

void ucp_worker_wait_mem(ucp_worker_h handle, void* address) {
    if (handle == nullptr || address == nullptr) return;
    wakeup::wait_for_memory(from(handle), address);
}

ucs_status_t ucp_worker_signal(ucp_worker_h handle) {
    const ucs_status_t status = check_wakeup("ucp_worker_signal", handle);
    if (status == UCS_OK) from(handle).events().latch_wake();
    return status;
}

}  // extern "C"
