/* Tagged messages: a receive takes a message whose tag equals its own in the bits of its mask. */
#ifndef UCP_API_UCP_TAG_H_
#define UCP_API_UCP_TAG_H_

#include <ucp/api/ucp_request.h>

BEGIN_C_DECLS

/** Properties of a message, from a receive or probe. */
struct ucp_tag_recv_info {
    ucp_tag_t sender_tag; /* tag of the message */
    size_t length;        /* bytes: of the message for a probe, received for a receive */
};

/*
 * Common to the functions below. buffer and count describe count elements of the datatype and
 * must stay valid until the operation ends. Messages from one endpoint with matching tags are
 * received in the order they were sent. Owner thread of the worker.
 */

/**
 * Sends. Completes when the buffer may be reused.
 *
 * @return NULL when done, a request, or an error pointer.
 */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag, ucp_send_callback_t cb);

/**
 * Sends with the caller's request; there is no callback.
 *
 * @param req  memory with ucp_context_attr_t.request_size bytes in front of it.
 * @return UCS_OK: done, req unused; UCS_INPROGRESS: poll ucp_request_check_status; or an error.
 */
ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void* buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, void* req);

/** Sends; completes only after the receiver matched it. Otherwise like ucp_tag_send_nb. */
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                      ucp_datatype_t datatype, ucp_tag_t tag,
                                      ucp_send_callback_t cb);

/** Sends, with the parameters of ucp_request_param_t (callback in cb.send). */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void* buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t* param);

/** Like ucp_tag_send_nbx, but completes only after the receiver matched the message. */
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void* buffer, size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t* param);

/**
 * Receives. A message longer than the buffer is consumed and ends the receive with
 * UCS_ERR_MESSAGE_TRUNCATED.
 *
 * @param tag_mask  bits of the tag that must be equal; 0 takes any message.
 * @param cb        called at the end, even if the receive completes at once.
 * @return a request (never NULL), or an error pointer.
 */
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb);

/**
 * Receives with the caller's request; there is no callback.
 *
 * @param req  memory with ucp_context_attr_t.request_size bytes in front of it; poll
 *             ucp_tag_recv_request_test for completion.
 * @return UCS_OK when the receive was started, done or not; or an error.
 */
ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void* buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, ucp_tag_t tag_mask,
                              void* req);

/**
 * Receives, with the parameters of ucp_request_param_t (callback in cb.recv).
 *
 * @return NULL when done (then recv_info.tag_info is filled), a request, or an error pointer.
 */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t tag_mask, const ucp_request_param_t* param);

/**
 * Checks for an arrived message that matches and that no receive has taken. Makes no progress.
 *
 * @param remove  not 0: remove it, so that only ucp_tag_msg_recv_nb(x) can receive it.
 * @param info    gets tag and length if there is a message.
 * @return the message, or NULL. Without remove, the result only means that there is a message.
 */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t tag_mask,
                                   int remove, ucp_tag_recv_info_t* info);

/** Receives a message that a probe removed. Otherwise like ucp_tag_recv_nb. */
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                     ucp_datatype_t datatype, ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb);

/** Receives a message that a probe removed. Otherwise like ucp_tag_recv_nbx. */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void* buffer, size_t count,
                                      ucp_tag_message_h message, const ucp_request_param_t* param);

/**
 * Returns the state of a tagged receive.
 *
 * @param info  gets tag and length once the receive ended; may be NULL.
 * @return UCS_INPROGRESS, or the final status.
 */
ucs_status_t ucp_tag_recv_request_test(void* request, ucp_tag_recv_info_t* info);

END_C_DECLS

#endif
