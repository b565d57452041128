#include "ucs/memory/unmap_watch.hpp"

#include <utility>

namespace ucs::memory {

ucs_status_t unmap_watch::start(ucm_event_callback_t handler, void* arg) noexcept {
    ucs_status_t status = ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, handler, arg);
    if (status != UCS_OK) return status;
    handler_ = handler;
    arg_ = arg;
    // Two functions test the events: one for replaced functions, one for declared sources.
    status = ucm_test_events(UCM_EVENT_VM_UNMAPPED);
    if (status == UCS_OK) status = ucm_test_external_events(UCM_EVENT_VM_UNMAPPED);
    if (status != UCS_OK) stop();
    return status;
}

void unmap_watch::stop() noexcept {
    if (handler_ == nullptr) return;
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, std::exchange(handler_, nullptr), arg_);
}

}  // namespace ucs::memory
