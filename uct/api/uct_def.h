/* Handles and limits of the UCT interface. */
#ifndef UCT_API_UCT_DEF_H_
#define UCT_API_UCT_DEF_H_

#include <stddef.h>
#include <stdint.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

/* Sizes of name buffers, including the terminating zero. */
#define UCT_COMPONENT_NAME_MAX 16
#define UCT_TL_NAME_MAX 10
#define UCT_MD_NAME_MAX 16
#define UCT_DEVICE_NAME_MAX 32

/* Opaque objects. */
typedef struct uct_component* uct_component_h; /* a transport, such as tcp */
typedef struct uct_md* uct_md_h;               /* a memory domain */
typedef struct uct_md_config uct_md_config_t;  /* option values of a domain */

/* Objects of the functions in uct/api/communication.h, which only return UCS_ERR_UNSUPPORTED. The
 * types are declared so that programs compile; no such object is ever created. */
typedef struct uct_worker* uct_worker_h;
typedef struct uct_iface* uct_iface_h;
typedef struct uct_ep* uct_ep_h;
typedef void* uct_mem_h;
typedef struct uct_md_attr uct_md_attr_t;
typedef struct uct_iface_attr uct_iface_attr_t;
typedef struct uct_iface_config uct_iface_config_t;
typedef struct uct_iface_params uct_iface_params_t;
typedef struct uct_ep_params uct_ep_params_t;
typedef struct uct_device_addr uct_device_addr_t;
typedef struct uct_iface_addr uct_iface_addr_t;
typedef struct uct_ep_addr uct_ep_addr_t;
typedef struct uct_rkey_bundle uct_rkey_bundle_t;

/** Handler of an active message. No function calls it. */
typedef ucs_status_t (*uct_am_callback_t)(void* arg, void* data, size_t length, unsigned flags);

#endif
