/* Byte streams: data of an endpoint arrives in order, without message boundaries. */
#ifndef UCP_API_UCP_STREAM_H_
#define UCP_API_UCP_STREAM_H_

#include <sys/types.h>
#include <ucp/api/ucp_request.h>

BEGIN_C_DECLS

/** Flags of a stream receive. */
typedef enum {
    UCP_STREAM_RECV_FLAG_WAITALL = UCS_BIT(0) /* end only when the buffer is full */
} ucp_stream_recv_flags_t;

/** An endpoint with data to receive. */
typedef struct ucp_stream_poll_ep {
    ucp_ep_h ep;
    void* user_data; /* of the endpoint */
    unsigned flags;
    uint8_t reserved[16];
} ucp_stream_poll_ep_t;

/**
 * Lists endpoints that have data waiting. Owner thread.
 *
 * @param poll_eps  array that is filled.
 * @param max_eps   its length.
 * @param flags     must be 0.
 * @return the number of filled entries, or a negative ucs_status_t.
 */
ssize_t ucp_stream_worker_poll(ucp_worker_h worker, ucp_stream_poll_ep_t* poll_eps, size_t max_eps,
                               unsigned flags);

/** Sends; flags must be 0. Returns NULL, a request, or an error pointer. Owner thread. */
ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                    ucp_datatype_t datatype, ucp_send_callback_t cb,
                                    unsigned flags);

/** Sends, with the parameters of ucp_request_param_t (callback in cb.send). Owner thread. */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                     const ucp_request_param_t* param);

/**
 * Receives into a buffer: whole elements, as many as are available. Owner thread.
 *
 * @param length  gets the bytes received when the call returns NULL.
 * @param flags   ucp_stream_recv_flags_t.
 * @return NULL when done, a request, or an error pointer.
 */
ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void* buffer, size_t count,
                                    ucp_datatype_t datatype, ucp_stream_recv_callback_t cb,
                                    size_t* length, unsigned flags);

/** Like ucp_stream_recv_nb, with the parameters of ucp_request_param_t. Owner thread. */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void* buffer, size_t count, size_t* length,
                                     const ucp_request_param_t* param);

/**
 * Returns the next piece of data that arrived, without a copy. Owner thread.
 *
 * @param length  gets its bytes.
 * @return the data, for ucp_stream_data_release; NULL if there is none; or an error pointer.
 */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t* length);

/** Frees data from ucp_stream_recv_data_nb. Owner thread. */
void ucp_stream_data_release(ucp_ep_h ep, void* data);

/** Returns the state of a stream receive; *length_p gets the bytes once it ended. Owner thread. */
ucs_status_t ucp_stream_recv_request_test(void* request, size_t* length_p);

END_C_DECLS

#endif
