/* Active messages: a message that names the function that handles it at the receiver. */
#ifndef UCP_API_UCP_AM_H_
#define UCP_API_UCP_AM_H_

#include <ucp/api/ucp_request.h>

BEGIN_C_DECLS

/** Behaviour of a handler. */
enum ucp_am_cb_flags {
    UCP_AM_FLAG_WHOLE_MSG = UCS_BIT(0),      /* call only when all data has arrived */
    UCP_AM_FLAG_PERSISTENT_DATA = UCS_BIT(1) /* the handler may always keep data (UCS_INPROGRESS) */
};

/** Behaviour of a send. */
enum ucp_send_am_flags {
    UCP_AM_SEND_FLAG_REPLY = UCS_BIT(0),       /* the receiver gets an endpoint to the sender */
    UCP_AM_SEND_FLAG_EAGER = UCS_BIT(1),       /* data goes with the message */
    UCP_AM_SEND_FLAG_RNDV = UCS_BIT(2),        /* data is fetched when the receiver wants it */
    UCP_AM_SEND_FLAG_COPY_HEADER = UCS_BIT(3), /* the header may change after the call */
    UCP_AM_SEND_REPLY = UCP_AM_SEND_FLAG_REPLY /* older name */
};

/** Flags of ucp_am_callback_t. */
enum ucp_cb_param_flags { UCP_CB_PARAM_FLAG_DATA = UCS_BIT(0) /* the data may be kept */ };

/** Valid members (FIELD) and properties (FLAG) in ucp_am_recv_param_t.recv_attr. */
typedef enum {
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),
    UCP_AM_RECV_ATTR_FLAG_DATA = UCS_BIT(16), /* the data may be kept */
    UCP_AM_RECV_ATTR_FLAG_RNDV = UCS_BIT(17)  /* data is a descriptor for ucp_am_recv_data_nbx */
} ucp_am_recv_attr_t;

/** Information about a message, passed to its handler. */
struct ucp_am_recv_param {
    uint64_t recv_attr; /* ucp_am_recv_attr_t */
    ucp_ep_h reply_ep;  /* endpoint to the sender */
};

/** Valid members of ucp_am_handler_param_t. */
enum ucp_am_handler_param_field {
    UCP_AM_HANDLER_PARAM_FIELD_ID = UCS_BIT(0),
    UCP_AM_HANDLER_PARAM_FIELD_FLAGS = UCS_BIT(1),
    UCP_AM_HANDLER_PARAM_FIELD_CB = UCS_BIT(2),
    UCP_AM_HANDLER_PARAM_FIELD_ARG = UCS_BIT(3)
};

/** A handler; members without their bit in field_mask are not read. */
typedef struct ucp_am_handler_param {
    uint64_t field_mask;       /* ucp_am_handler_param_field */
    unsigned id;               /* number that senders use; must be given */
    uint32_t flags;            /* ucp_am_cb_flags */
    ucp_am_recv_callback_t cb; /* NULL removes the handler */
    void* arg;                 /* handed to cb */
} ucp_am_handler_param_t;

/**
 * Sets or removes a handler of the first form. Owner thread.
 *
 * @return UCS_OK or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id, ucp_am_callback_t cb,
                                       void* arg, uint32_t flags);

/** Sets or removes a handler. Returns UCS_OK or UCS_ERR_INVALID_PARAM. Owner thread. */
ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t* param);

/** Sends a message without header to a handler of the first form. Owner thread. */
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void* buffer, size_t count,
                                ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags);

/**
 * Sends header and data; ucp_send_am_flags in param->flags. Owner thread.
 *
 * @param id             handler at the receiver.
 * @param header         stays valid until the end, unless COPY_HEADER; NULL for none.
 * @param header_length  bytes, at most ucp_worker_attr_t.max_am_header.
 * @param buffer, count  the data.
 * @return NULL when done, a request, or an error pointer.
 */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void* header, size_t header_length,
                                 const void* buffer, size_t count,
                                 const ucp_request_param_t* param);

/**
 * Receives data whose descriptor a handler kept into a buffer, and frees the descriptor. Owner
 * thread.
 *
 * @return NULL when done (then recv_info.length is filled), a request, or an error pointer.
 */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* data_desc, void* buffer,
                                      size_t count, const ucp_request_param_t* param);

/** Frees data or a descriptor that a handler kept. Owner thread. */
void ucp_am_data_release(ucp_worker_h worker, void* data);

END_C_DECLS

#endif
