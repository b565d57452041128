// Contexts of asynchronous work, which this library does not support.
#include "ucs/async/async_fwd.h"
#include "ucs/debug/debug.h"

ucs_status_t ucs_async_context_create(ucs_async_mode_t, ucs_async_context_t**) {
    return UCS_ERR_UNSUPPORTED;
}

void ucs_async_context_destroy(ucs_async_context_t*) {}

int ucs_debug_is_error_signal(int /*signum*/) {
    return 0;
}
