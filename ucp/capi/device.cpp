// Host functions of the GPU device interface, which is not supported.
#include "ucp/api/device/ucp_host.h"
#include "ucp/log/log.hpp"
#include "ucs/config/once.hpp"

namespace {

// Programs call these functions to find out whether kernels can communicate, so one log line is
// enough.
ucs_status_t unsupported(const char* call) noexcept {
    try {
        if (ucs::config::first_time(call)) {
            ucs::log::warn(ucp::core_log, "{}: communication from GPU kernels is not supported",
                           call);
        }
    } catch (...) {
        // If there is no memory to remember the call, no line is written.
    }
    return UCS_ERR_UNSUPPORTED;
}

}  // namespace

extern "C" {

ucs_status_t ucp_device_local_mem_list_create(const ucp_device_mem_list_params_t* /*params*/,
                                              ucp_device_local_mem_list_h* /*mem_list_h*/) {
    return unsupported("ucp_device_local_mem_list_create");
}

ucs_status_t ucp_device_remote_mem_list_create(const ucp_device_mem_list_params_t* /*params*/,
                                               ucp_device_remote_mem_list_h* /*mem_list_h*/) {
    return unsupported("ucp_device_remote_mem_list_create");
}

ucs_status_t ucp_device_mem_list_create(ucp_ep_h /*ep*/,
                                        const ucp_device_mem_list_params_t* /*params*/,
                                        ucp_device_mem_list_handle_h* /*handle*/) {
    return unsupported("ucp_device_mem_list_create");
}

uint32_t ucp_device_get_mem_list_length(const void* /*mem_list_h*/) {
    return 0;
}

void ucp_device_mem_list_release(void* /*mem_list_h*/) {}

ucs_status_t ucp_device_counter_init(ucp_worker_h /*worker*/,
                                     const ucp_device_counter_params_t* /*params*/,
                                     void* /*counter_ptr*/) {
    return unsupported("ucp_device_counter_init");
}

uint64_t ucp_device_counter_read(ucp_worker_h /*worker*/,
                                 const ucp_device_counter_params_t* /*params*/,
                                 void* /*counter_ptr*/) {
    return 0;
}

}  // extern "C"
