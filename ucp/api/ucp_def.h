/* Handles, callbacks and shared structures of the UCP interface. */
#ifndef UCP_API_UCP_DEF_H_
#define UCP_API_UCP_DEF_H_

#include <stddef.h>
#include <stdint.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** Capacity for the name of a context, worker or endpoint, terminating zero included. */
#define UCP_ENTITY_NAME_MAX 32

/* Opaque objects. */
typedef struct ucp_context* ucp_context_h;           /* configuration and resources */
typedef struct ucp_config ucp_config_t;              /* option values */
typedef struct ucp_worker* ucp_worker_h;             /* a progress engine with its interfaces */
typedef struct ucp_ep* ucp_ep_h;                     /* a connection to one peer worker */
typedef struct ucp_listener* ucp_listener_h;         /* accepts connections on a socket address */
typedef struct ucp_conn_request* ucp_conn_request_h; /* a connection not accepted yet */
typedef struct ucp_address ucp_address_t;            /* packed address of a worker */
typedef struct ucp_mem* ucp_mem_h;                   /* registered memory */
typedef struct ucp_rkey* ucp_rkey_h;                 /* right to access remote memory */
typedef struct ucp_recv_desc* ucp_tag_message_h;     /* a message taken out by a probe */

typedef struct ucp_tag_recv_info ucp_tag_recv_info_t;
typedef struct ucp_am_recv_param ucp_am_recv_param_t;

/** Tag of a message: 64 bits, divided as the program likes. */
typedef uint64_t ucp_tag_t;

/** Memory layout of a buffer: a class in the low three bits, details above (see ucp_dt.h). */
typedef uint64_t ucp_datatype_t;

/** Behaviour of an endpoint when its peer fails. */
typedef enum {
    UCP_ERR_HANDLING_MODE_NONE,    /* operations towards a dead peer may never complete */
    UCP_ERR_HANDLING_MODE_PEER,    /* every operation completes; the error handler is called */
    UCP_ERR_HANDLING_MODE_FAILOVER /* as PEER; other paths are tried while connecting only */
} ucp_err_handling_mode_t;

/** Prepares a request object. Called once per object when memory for it is made. */
typedef void (*ucp_request_init_callback_t)(void* request);

/** Undoes the preparation. Called once per object when its memory is returned. */
typedef void (*ucp_request_cleanup_callback_t)(void* request);

/** A send or flush ended with this status; the caller must free the request. */
typedef void (*ucp_send_callback_t)(void* request, ucs_status_t status);

/** Like ucp_send_callback_t, with the user_data of the operation. */
typedef void (*ucp_send_nbx_callback_t)(void* request, ucs_status_t status, void* user_data);

/** A tagged receive ended; *info is valid during the call only. */
typedef void (*ucp_tag_recv_callback_t)(void* request, ucs_status_t status,
                                        ucp_tag_recv_info_t* info);

/** Like ucp_tag_recv_callback_t, with the user_data of the operation. */
typedef void (*ucp_tag_recv_nbx_callback_t)(void* request, ucs_status_t status,
                                            const ucp_tag_recv_info_t* tag_info, void* user_data);

/** A stream receive ended with this many bytes in the buffer. */
typedef void (*ucp_stream_recv_callback_t)(void* request, ucs_status_t status, size_t length);

/** Like ucp_stream_recv_callback_t, with the user_data of the operation. */
typedef void (*ucp_stream_recv_nbx_callback_t)(void* request, ucs_status_t status, size_t length,
                                               void* user_data);

/** The data of an active message arrived in the buffer: length bytes. */
typedef void (*ucp_am_recv_data_nbx_callback_t)(void* request, ucs_status_t status, size_t length,
                                                void* user_data);

/**
 * An active message arrived (first form of the interface).
 *
 * @param arg       the arg given with the handler.
 * @param data      the message, valid during the call unless kept, see the return value.
 * @param length    bytes at data.
 * @param reply_ep  endpoint to the sender if it asked for replies, otherwise NULL.
 * @param flags     UCP_CB_PARAM_FLAG_DATA when the data may be kept.
 * @return UCS_OK when done with the data, UCS_INPROGRESS to keep it until ucp_am_data_release.
 */
typedef ucs_status_t (*ucp_am_callback_t)(void* arg, void* data, size_t length, ucp_ep_h reply_ep,
                                          unsigned flags);

/**
 * An active message arrived.
 *
 * @param arg            the arg given with the handler.
 * @param header         the header, valid during the call; NULL when there is none.
 * @param header_length  bytes at header.
 * @param data           the data, or its descriptor when UCP_AM_RECV_ATTR_FLAG_RNDV is set.
 * @param length         bytes of data.
 * @param param          further properties of the message.
 * @return UCS_OK when done with the data, UCS_INPROGRESS to keep data or descriptor (only with
 *         one of the flags DATA and RNDV); an error refuses a message that came by RNDV.
 */
typedef ucs_status_t (*ucp_am_recv_callback_t)(void* arg, const void* header, size_t header_length,
                                               void* data, size_t length,
                                               const ucp_am_recv_param_t* param);

/** The peer of ep failed; the endpoint can only be closed from now on. */
typedef void (*ucp_err_handler_cb_t)(void* arg, ucp_ep_h ep, ucs_status_t status);

/** A client connected and an endpoint for it exists (deprecated method to accept). */
typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void* arg);

/** A client asks for a connection: create an endpoint from the request, or reject it. */
typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request, void* arg);

/** Error callback of an endpoint; the user_data of the endpoint takes the place of arg. */
typedef struct ucp_err_handler {
    ucp_err_handler_cb_t cb; /* NULL: no call */
    void* arg;
} ucp_err_handler_t;

/** Connection callback of a listener. */
typedef struct ucp_listener_conn_handler {
    ucp_listener_conn_callback_t cb;
    void* arg;
} ucp_listener_conn_handler_t;

/** Kinds of events that wake a worker's file descriptor. */
typedef enum ucp_wakeup_event_types {
    UCP_WAKEUP_RMA = UCS_BIT(0),      /* a remote memory access ended */
    UCP_WAKEUP_AMO = UCS_BIT(1),      /* an atomic operation ended */
    UCP_WAKEUP_TAG_SEND = UCS_BIT(2), /* a tagged send ended */
    UCP_WAKEUP_TAG_RECV = UCS_BIT(3), /* a tagged receive ended */
    UCP_WAKEUP_TX = UCS_BIT(10),      /* progress of any outgoing operation */
    UCP_WAKEUP_RX = UCS_BIT(11),      /* anything incoming */
    UCP_WAKEUP_EDGE = UCS_BIT(16)     /* signal new events only, not those still pending */
} ucp_wakeup_event_t;

/** Valid members of ucp_mem_attr_t. */
enum ucp_mem_attr_field {
    UCP_MEM_ATTR_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_ATTR_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2)
};

/** Attributes from ucp_mem_query. */
typedef struct ucp_mem_attr {
    uint64_t field_mask;        /* in: wanted members, ucp_mem_attr_field */
    void* address;              /* first byte */
    size_t length;              /* bytes, at least the requested length */
    ucs_memory_type_t mem_type; /* kind of memory */
} ucp_mem_attr_t;

/** Parameters of an endpoint; members without their bit in field_mask are not read. */
typedef struct ucp_ep_params {
    uint64_t field_mask;              /* ucp_ep_params_field */
    const ucp_address_t* address;     /* packed address of the peer worker */
    ucp_err_handling_mode_t err_mode; /* default NONE */
    ucp_err_handler_t err_handler;    /* default: no call */
    void* user_data;                  /* handed to the error handler */
    unsigned flags;                   /* ucp_ep_params_flags_field */
    ucs_sock_addr_t sockaddr;         /* address to connect to, with flag CLIENT_SERVER */
    ucp_conn_request_h conn_request;  /* from a listener; consumed by the call */
    const char* name;                 /* for logs; generated by default */
    ucs_sock_addr_t local_sockaddr;   /* source address of the connection */
} ucp_ep_params_t;

END_C_DECLS

#endif
