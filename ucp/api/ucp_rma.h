/* Access to a peer's memory: put, get, atomic operations. */
#ifndef UCP_API_UCP_RMA_H_
#define UCP_API_UCP_RMA_H_

#include <ucp/api/ucp_request.h>

BEGIN_C_DECLS

/** Atomic operations of ucp_atomic_post. */
typedef enum {
    UCP_ATOMIC_POST_OP_ADD,
    UCP_ATOMIC_POST_OP_AND,
    UCP_ATOMIC_POST_OP_OR,
    UCP_ATOMIC_POST_OP_XOR,
    UCP_ATOMIC_POST_OP_LAST
} ucp_atomic_post_op_t;

/** Atomic operations of ucp_atomic_fetch_nb; all return the previous value. */
typedef enum {
    UCP_ATOMIC_FETCH_OP_FADD,
    UCP_ATOMIC_FETCH_OP_SWAP,
    UCP_ATOMIC_FETCH_OP_CSWAP, /* store the content of the result buffer if equal to value */
    UCP_ATOMIC_FETCH_OP_FAND,
    UCP_ATOMIC_FETCH_OP_FOR,
    UCP_ATOMIC_FETCH_OP_FXOR,
    UCP_ATOMIC_FETCH_OP_LAST
} ucp_atomic_fetch_op_t;

/** Atomic operations of ucp_atomic_op_nbx; with a reply buffer the previous value is fetched. */
typedef enum {
    UCP_ATOMIC_OP_ADD,
    UCP_ATOMIC_OP_SWAP,
    UCP_ATOMIC_OP_CSWAP, /* store the content of the reply buffer if equal to *buffer */
    UCP_ATOMIC_OP_AND,
    UCP_ATOMIC_OP_OR,
    UCP_ATOMIC_OP_XOR,
    UCP_ATOMIC_OP_LAST
} ucp_atomic_op_t;

/*
 * Common to the functions below. remote_addr is an address at the peer within the memory of
 * rkey. A put or a posted atomic is known to be visible at the peer only after a flush. The
 * "nbi" forms return UCS_OK (buffer free), UCS_INPROGRESS (a flush waits for the end) or an
 * error. ucp_atomic_post returns UCS_OK or an error; UCS_OK does not mean that the operation was
 * sent. The others return NULL when done, a request, or an error pointer. Owner thread.
 */

/** Writes length bytes; completion by flush only. */
ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote_addr,
                         ucp_rkey_h rkey);

/** Writes length bytes; completes when the buffer may be reused. */
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote_addr,
                            ucp_rkey_h rkey, ucp_send_callback_t cb);

/** Writes count elements, with the parameters of ucp_request_param_t. */
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void* buffer, size_t count, uint64_t remote_addr,
                             ucp_rkey_h rkey, const ucp_request_param_t* param);

/** Reads length bytes; the data is available after a flush. */
ucs_status_t ucp_get_nbi(ucp_ep_h ep, void* buffer, size_t length, uint64_t remote_addr,
                         ucp_rkey_h rkey);

/** Reads length bytes; the data is available when the operation ends. */
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void* buffer, size_t length, uint64_t remote_addr,
                            ucp_rkey_h rkey, ucp_send_callback_t cb);

/** Reads count elements, with the parameters of ucp_request_param_t. */
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, size_t count, uint64_t remote_addr,
                             ucp_rkey_h rkey, const ucp_request_param_t* param);

/**
 * Changes a number at the peer.
 *
 * @param op_size  4 or 8 bytes; remote_addr must be a multiple of it.
 */
ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode, uint64_t value,
                             size_t op_size, uint64_t remote_addr, ucp_rkey_h rkey);

/**
 * Changes a number at the peer and fetches the previous value.
 *
 * @param result   gets op_size bytes; for CSWAP it holds the new value on entry.
 * @param op_size  4 or 8 bytes; remote_addr must be a multiple of it.
 */
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode, uint64_t value,
                                     void* result, size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey, ucp_send_callback_t cb);

/**
 * Changes a number at the peer, and fetches the previous value if param has a reply_buffer.
 *
 * @param buffer  the operand.
 * @param count   must be 1; param->datatype is contiguous, 4 or 8 bytes.
 */
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode, const void* buffer,
                                   size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t* param);

END_C_DECLS

#endif
