// C functions for communication, which the transports do not offer to C programs.
#include "uct/api/communication.h"

ucs_status_t uct_worker_create(ucs_async_context_t*, ucs_thread_mode_t, uct_worker_h*) {
    return UCS_ERR_UNSUPPORTED;
}
void uct_worker_destroy(uct_worker_h) {}

ucs_status_t uct_md_query(uct_md_h, uct_md_attr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_md_mem_reg(uct_md_h, void*, size_t, unsigned, uct_mem_h*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_md_mem_dereg(uct_md_h, uct_mem_h) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_md_mkey_pack(uct_md_h, uct_mem_h, void*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_rkey_unpack(uct_component_h, const void*, uct_rkey_bundle_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_rkey_release(uct_component_h, const uct_rkey_bundle_t*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t uct_md_iface_config_read(uct_md_h, const char*, const char*, const char*,
                                      uct_iface_config_t**) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_iface_open(uct_md_h, uct_worker_h, const uct_iface_params_t*,
                            const uct_iface_config_t*, uct_iface_h*) {
    return UCS_ERR_UNSUPPORTED;
}
void uct_iface_close(uct_iface_h) {}
ucs_status_t uct_iface_query(uct_iface_h, uct_iface_attr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_iface_get_device_address(uct_iface_h, uct_device_addr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_iface_get_address(uct_iface_h, uct_iface_addr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_iface_set_am_handler(uct_iface_h, uint8_t, uct_am_callback_t, void*, uint32_t) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t uct_ep_create(const uct_ep_params_t*, uct_ep_h*) {
    return UCS_ERR_UNSUPPORTED;
}
void uct_ep_destroy(uct_ep_h) {}
ucs_status_t uct_ep_get_address(uct_ep_h, uct_ep_addr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
ucs_status_t uct_ep_connect_to_ep(uct_ep_h, const uct_device_addr_t*, const uct_ep_addr_t*) {
    return UCS_ERR_UNSUPPORTED;
}
