// Implementation of the ucg_context_* functions and ucg_progress().
#include <cstring>

#include "ucg/capi/handles.hpp"

using namespace ucg;
using namespace ucg::capi;

ucs_status_t ucg_context_create(const ucg_context_params_t* params, ucg_context_h* context_p) try {
    if (context_p == nullptr) return refuse("ucg_context_create", "context_p is NULL");
    ucg_context_params_t values = UCG_CONTEXT_PARAMS_INIT;
    if (params != nullptr) {
        if (params->struct_size < sizeof params->struct_size)
            return refuse("ucg_context_create",
                          "params was not initialised by UCG_CONTEXT_PARAMS_INIT");
        std::memcpy(&values, params, std::min(params->struct_size, sizeof values));
    }
    if (values.thread_mode < UCS_THREAD_MODE_SINGLE || values.thread_mode > UCS_THREAD_MODE_MULTI)
        return refuse("ucg_context_create", "params.thread_mode is none");
    auto made = context::make(values);
    if (!made) return made.status();
    *context_p = handle(*made->release());
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void ucg_context_destroy(ucg_context_h context) {
    if (context == nullptr) return;
    if (from(context).has_groups()) {
        refuse("ucg_context_destroy", "there are groups of it; it is not destroyed");
        return;
    }
    delete &from(context);
}

unsigned ucg_progress(ucg_context_h context) {
    if (context == nullptr) return 0;
    const std::lock_guard guard(from(context).lock());
    return from(context).progress();
}
