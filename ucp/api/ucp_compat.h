/* Deprecated functions. They work, but each has a better successor, named in its comment. */
#ifndef UCP_API_UCP_COMPAT_H_
#define UCP_API_UCP_COMPAT_H_

#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Accept callback of a listener; use ucp_listener_conn_handler_t. */
typedef struct ucp_listener_accept_handler {
    ucp_listener_accept_callback_t cb;
    void* arg;
} ucp_listener_accept_handler_t;

/*
 * All functions here: owner thread of the worker. Those that block call ucp_worker_progress
 * themselves until they are done. Atomic addresses must be multiples of the operand size.
 */

/** Returns nonzero when the operation has ended; use ucp_request_check_status. */
int ucp_request_is_completed(void* request);

/** Frees a request; a running operation continues and calls back; use ucp_request_free. */
void ucp_request_release(void* request);

/** Flushes and closes an endpoint, blocking; use ucp_ep_close_nbx. */
void ucp_ep_destroy(ucp_ep_h ep);

/** Flushes and closes an endpoint; use ucp_ep_close_nbx. NULL, a request or an error pointer. */
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);

/** Returns the state of a tagged receive; use ucp_tag_recv_request_test. */
ucs_status_t ucp_request_test(void* request, ucp_tag_recv_info_t* info);

/** Blocks until the endpoint is flushed; use ucp_ep_flush_nbx. */
ucs_status_t ucp_ep_flush(ucp_ep_h ep);

/** Blocks until the worker is flushed; use ucp_worker_flush_nbx. */
ucs_status_t ucp_worker_flush(ucp_worker_h worker);

/** Changes parameters of an endpoint except the error handling mode; use a new endpoint. */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep, const ucp_ep_params_t* params);

/** Writes length bytes to the peer, blocking; use ucp_put_nbx. */
ucs_status_t ucp_put(ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote_addr,
                     ucp_rkey_h rkey);

/** Reads length bytes from the peer, blocking; use ucp_get_nbx. */
ucs_status_t ucp_get(ucp_ep_h ep, void* buffer, size_t length, uint64_t remote_addr,
                     ucp_rkey_h rkey);

/** Adds to 32 bits at the peer, blocking; use ucp_atomic_op_nbx (here and below). */
ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr, ucp_rkey_h rkey);

/** Adds to 64 bits at the peer, blocking. */
ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr, ucp_rkey_h rkey);

/** Adds to 32 bits at the peer, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint32_t* result);

/** Adds to 64 bits at the peer, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint64_t* result);

/** Replaces 32 bits at the peer, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint32_t* result);

/** Replaces 64 bits at the peer, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint64_t* result);

/** Replaces 32 bits that equal compare, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap, uint64_t remote_addr,
                                ucp_rkey_h rkey, uint32_t* result);

/** Replaces 64 bits that equal compare, blocking; *result gets the previous value. */
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap, uint64_t remote_addr,
                                ucp_rkey_h rkey, uint64_t* result);

END_C_DECLS

#endif
