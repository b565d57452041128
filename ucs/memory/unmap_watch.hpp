// Notification of memory that is unmapped.
#pragma once

#include "ucm/api/ucm.h"
#include "ucs/type/status.h"

namespace ucs::memory {

// Calls a handler before memory of the process is unmapped or loses its contents, in any thread,
// possibly in the middle of the allocator: the handler must not allocate. Owned by a cache of
// properties of memory, which must not move.
class unmap_watch {
public:
    unmap_watch() noexcept = default;
    ~unmap_watch() { stop(); }
    unmap_watch(const unmap_watch&) = delete;
    unmap_watch& operator=(const unmap_watch&) = delete;

    // Starts the notification, and makes sure that it arrives. Returns UCS_ERR_UNSUPPORTED if this
    // process cannot detect unmapped memory. May replace functions of the C library.
    [[nodiscard]] ucs_status_t start(ucm_event_callback_t handler, void* arg) noexcept;

    // Returns when no handler runs any more.
    void stop() noexcept;

private:
    ucm_event_callback_t handler_ = nullptr;  // null: not started
    void* arg_ = nullptr;
};

}  // namespace ucs::memory
