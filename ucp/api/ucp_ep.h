/* Endpoints: the connection of a worker to one peer. */
#ifndef UCP_API_UCP_EP_H_
#define UCP_API_UCP_EP_H_

#include <stdio.h>
#include <ucp/api/ucp_request.h>

BEGIN_C_DECLS

/** Valid members of ucp_ep_params_t. */
enum ucp_ep_params_field {
    UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = UCS_BIT(0),
    UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = UCS_BIT(1),
    UCP_EP_PARAM_FIELD_ERR_HANDLER = UCS_BIT(2),
    UCP_EP_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    UCP_EP_PARAM_FIELD_SOCK_ADDR = UCS_BIT(4),
    UCP_EP_PARAM_FIELD_FLAGS = UCS_BIT(5),
    UCP_EP_PARAM_FIELD_CONN_REQUEST = UCS_BIT(6),
    UCP_EP_PARAM_FIELD_NAME = UCS_BIT(7),
    UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR = UCS_BIT(8)
};

/** Behaviour of a new endpoint. */
enum ucp_ep_params_flags_field {
    UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = UCS_BIT(0), /* connect to a listener at sockaddr */
    UCP_EP_PARAMS_FLAGS_NO_LOOPBACK =
        UCS_BIT(1), /* to this worker itself: connect to another endpoint */
    UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = UCS_BIT(2) /* show the worker's client_id to the server */
};

/** Flags of ucp_ep_close_nbx, in ucp_request_param_t.flags. */
typedef enum {
    UCP_EP_CLOSE_FLAG_FORCE = UCS_BIT(0) /* do not flush: pending operations are canceled */
} ucp_ep_close_flags_t;

/** Modes of ucp_ep_close_nb. */
enum ucp_ep_close_mode {
    UCP_EP_CLOSE_MODE_FORCE = 0, /* like UCP_EP_CLOSE_FLAG_FORCE */
    UCP_EP_CLOSE_MODE_FLUSH = 1  /* finish pending operations first */
};

/** Valid members of ucp_ep_attr_t. */
enum ucp_ep_attr_field {
    UCP_EP_ATTR_FIELD_NAME = UCS_BIT(0),
    UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = UCS_BIT(1),
    UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = UCS_BIT(2),
    UCP_EP_ATTR_FIELD_TRANSPORTS = UCS_BIT(3),
    UCP_EP_ATTR_FIELD_USER_DATA = UCS_BIT(4)
};

/** A transport in use; both names live as long as the context. */
typedef struct {
    const char* transport_name;
    const char* device_name;
} ucp_transport_entry_t;

/** The caller's array for the transports of an endpoint. */
typedef struct {
    ucp_transport_entry_t* entries; /* in: the array */
    unsigned num_entries;           /* in: capacity; out: number filled */
    size_t entry_size;              /* in: sizeof(ucp_transport_entry_t) of the caller */
} ucp_transports_t;

/** Attributes from ucp_ep_query. */
typedef struct ucp_ep_attr {
    uint64_t field_mask;                     /* in: wanted members, ucp_ep_attr_field */
    char name[UCP_ENTITY_NAME_MAX];          /* the endpoint's name */
    struct sockaddr_storage local_sockaddr;  /* address of a client-server connection */
    struct sockaddr_storage remote_sockaddr; /* address of a client-server connection */
    ucp_transports_t transports;             /* transports in use */
    void* user_data;                         /* as given on creation */
} ucp_ep_attr_t;

/** Valid members of ucp_ep_evaluate_perf_param_t. */
typedef enum ucp_ep_perf_param_field {
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0)
} ucp_ep_perf_param_field_t;

/** Parameters of ucp_ep_evaluate_perf. */
typedef struct {
    uint64_t field_mask; /* ucp_ep_perf_param_field_t */
    size_t message_size; /* bytes; must be given */
} ucp_ep_evaluate_perf_param_t;

/** Valid members of ucp_ep_evaluate_perf_attr_t. */
typedef enum ucp_ep_perf_attr_field {
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0)
} ucp_ep_perf_attr_field_t;

/** Result of ucp_ep_evaluate_perf. */
typedef struct {
    uint64_t field_mask;   /* in: wanted members, ucp_ep_perf_attr_field_t */
    double estimated_time; /* seconds for one message to the peer */
} ucp_ep_evaluate_perf_attr_t;

/**
 * Makes an endpoint from one of: a packed address, a socket address, a connection request. May
 * return before the connection is established. Owner thread.
 *
 * @param params  the address may be freed when the call returns.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_INVALID_ADDR (malformed address),
 *         UCS_ERR_NO_MEMORY. For a connection request also UCS_ERR_UNREACHABLE (no common
 *         transport) and UCS_ERR_CONNECTION_RESET (the client is gone); otherwise the first
 *         operation ends with these errors.
 */
ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t* params, ucp_ep_h* ep_p);

/**
 * Closes an endpoint; the handle is invalid when the call returns. Owner thread.
 *
 * @param mode  ucp_ep_close_mode.
 * @return NULL: closed; a request to wait for; or an error pointer (closed as well).
 */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode);

/** Like ucp_ep_close_nb; ucp_ep_close_flags_t in param->flags, by default it flushes. Owner. */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t* param);

/** Writes the state, transports and protocols of the endpoint as text. Owner thread. */
void ucp_ep_print_info(ucp_ep_h ep, FILE* stream);

/**
 * Completes when everything started before it on this endpoint is done, here and, for remote
 * memory, at the peer. Owner thread.
 *
 * @param flags  must be 0.
 * @param cb     called at the end, unless NULL is returned.
 * @return NULL, a request, or an error pointer.
 */
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags, ucp_send_callback_t cb);

/** Like ucp_ep_flush_nb, with the parameters of ucp_request_param_t. Owner thread. */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t* param);

/** Predicts the time of a message. UCS_ERR_INVALID_PARAM without a size. Owner thread. */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h ep, const ucp_ep_evaluate_perf_param_t* param,
                                  ucp_ep_evaluate_perf_attr_t* attr);

/**
 * Fills the wanted members of *attr. Owner thread.
 *
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED when a socket address is wanted and there is none.
 */
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t* attr);

END_C_DECLS

#endif
