/*
 * The UCT functions with which programs of OpenUCX communicate without UCP. This library does not
 * implement them: its transports have no C interface. Each function that returns a status returns
 * UCS_ERR_UNSUPPORTED and sets no output; the functions that destroy an object do nothing. The
 * library exports them so that programs that refer to them can be loaded, and can fall back to
 * something else. Any thread.
 */
#ifndef UCT_API_COMMUNICATION_H_
#define UCT_API_COMMUNICATION_H_

#include <ucs/async/async_fwd.h>
#include <ucs/type/thread_mode.h>
#include <uct/api/uct_def.h>

BEGIN_C_DECLS

/* Workers. */
ucs_status_t uct_worker_create(ucs_async_context_t* async, ucs_thread_mode_t thread_mode,
                               uct_worker_h* worker_p);
void uct_worker_destroy(uct_worker_h worker);

/* Memory domains: what they can do, and memory that is registered with them. */
ucs_status_t uct_md_query(uct_md_h md, uct_md_attr_t* md_attr);
ucs_status_t uct_md_mem_reg(uct_md_h md, void* address, size_t length, unsigned flags,
                            uct_mem_h* memh_p);
ucs_status_t uct_md_mem_dereg(uct_md_h md, uct_mem_h memh);
ucs_status_t uct_md_mkey_pack(uct_md_h md, uct_mem_h memh, void* rkey_buffer);
ucs_status_t uct_rkey_unpack(uct_component_h component, const void* rkey_buffer,
                             uct_rkey_bundle_t* rkey_ob);
ucs_status_t uct_rkey_release(uct_component_h component, const uct_rkey_bundle_t* rkey_ob);

/* Interfaces. */
ucs_status_t uct_md_iface_config_read(uct_md_h md, const char* tl_name, const char* env_prefix,
                                      const char* filename, uct_iface_config_t** config_p);
ucs_status_t uct_iface_open(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                            const uct_iface_config_t* config, uct_iface_h* iface_p);
void uct_iface_close(uct_iface_h iface);
ucs_status_t uct_iface_query(uct_iface_h iface, uct_iface_attr_t* iface_attr);
ucs_status_t uct_iface_get_device_address(uct_iface_h iface, uct_device_addr_t* addr);
ucs_status_t uct_iface_get_address(uct_iface_h iface, uct_iface_addr_t* addr);
ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, uint8_t id, uct_am_callback_t cb,
                                      void* arg, uint32_t flags);

/* Endpoints. */
ucs_status_t uct_ep_create(const uct_ep_params_t* params, uct_ep_h* ep_p);
void uct_ep_destroy(uct_ep_h ep);
ucs_status_t uct_ep_get_address(uct_ep_h ep, uct_ep_addr_t* addr);
ucs_status_t uct_ep_connect_to_ep(uct_ep_h ep, const uct_device_addr_t* dev_addr,
                                  const uct_ep_addr_t* ep_addr);

END_C_DECLS

#endif
