// Options of libucm, which has no way of its own to read some.
#pragma once

#include "ucm/api/ucm.h"
#include "ucs/config/source.hpp"

namespace ucs::memory {

struct event_settings {
    bool enable = true;
    ucm_mmap_hook_mode_t hook_mode = UCM_MMAP_HOOK_BISTRO;

    static const config::table& options();
};

// Hands over the options that `from` has a text for, and leaves the others as somebody else may
// have set them. UCS_ERR_INVALID_PARAM, and nothing changed, when one is wrong. Takes effect on
// handlers that are set afterwards. Any thread.
ucs_status_t configure_events(const config::source& from);

}  // namespace ucs::memory
