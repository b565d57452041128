// Options of libucm, which does not read options itself.
#pragma once

#include "ucm/api/ucm.h"
#include "ucs/config/enum_type.hpp"
#include "ucs/config/source.hpp"

namespace ucs::memory {

struct event_settings {
    bool enable = true;
    ucm_mmap_hook_mode_t hook_mode = UCM_MMAP_HOOK_BISTRO;
    config::enum_set<ucm_mmap_hook_mode_t> cuda_hook_modes;

    static const config::table& options();
};

// Passes the options that `from` sets to libucm, and leaves the others unchanged, because the
// program may have set them. Returns UCS_ERR_INVALID_PARAM, without any change, if one is invalid.
// Affects handlers that are set afterwards. Any thread.
ucs_status_t configure_events(const config::source& from);

}  // namespace ucs::memory
