/* Listeners: accept clients at a socket address. */
#ifndef UCP_API_UCP_LISTENER_H_
#define UCP_API_UCP_LISTENER_H_

#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Valid members of ucp_listener_params_t. */
enum ucp_listener_params_field {
    UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = UCS_BIT(0),
    UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = UCS_BIT(1),
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = UCS_BIT(2)
};

/** Parameters of a listener; members without their bit in field_mask are not read. */
typedef struct ucp_listener_params {
    uint64_t field_mask;                          /* ucp_listener_params_field */
    ucs_sock_addr_t sockaddr;                     /* address to listen at; port 0: any free port */
    ucp_listener_accept_handler_t accept_handler; /* deprecated method to accept */
    ucp_listener_conn_handler_t conn_handler;     /* gets connection requests */
} ucp_listener_params_t;

/** Valid members of ucp_listener_attr_t. */
enum ucp_listener_attr_field { UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0) };

/** Attributes from ucp_listener_query. */
typedef struct ucp_listener_attr {
    uint64_t field_mask;              /* in: wanted members, ucp_listener_attr_field */
    struct sockaddr_storage sockaddr; /* address it listens at, with the real port */
} ucp_listener_attr_t;

/** Valid members of ucp_conn_request_attr_t. */
enum ucp_conn_request_attr_field {
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = UCS_BIT(1)
};

/** Attributes from ucp_conn_request_query. */
typedef struct ucp_conn_request_attr {
    uint64_t field_mask;                    /* in: wanted members, ucp_conn_request_attr_field */
    struct sockaddr_storage client_address; /* address of the client */
    uint64_t client_id;                     /* id of the client's worker, if the client sent it */
} ucp_conn_request_attr_t;

/**
 * Listens for clients. Owner thread of the worker.
 *
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_BUSY (address in use), UCS_ERR_UNREACHABLE.
 */
ucs_status_t ucp_listener_create(ucp_worker_h worker, const ucp_listener_params_t* params,
                                 ucp_listener_h* listener_p);

/** Stops listening; existing endpoints are not closed. Owner thread. */
void ucp_listener_destroy(ucp_listener_h listener);

/** Fills the wanted members of *attr. Owner thread. */
ucs_status_t ucp_listener_query(ucp_listener_h listener, ucp_listener_attr_t* attr);

/** Describes the client; UCS_ERR_UNSUPPORTED if it sent no client id. Owner thread. */
ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request, ucp_conn_request_attr_t* attr);

/** Refuses a connection and frees the request. Owner thread. */
ucs_status_t ucp_listener_reject(ucp_listener_h listener, ucp_conn_request_h conn_request);

END_C_DECLS

#endif
