/* Parameters of non-blocking operations, and the requests they return. */
#ifndef UCP_API_UCP_REQUEST_H_
#define UCP_API_UCP_REQUEST_H_

#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Valid members (FIELD) and behaviour (FLAG) of an operation, in op_attr_mask. */
typedef enum {
    UCP_OP_ATTR_FIELD_REQUEST = UCS_BIT(0),
    UCP_OP_ATTR_FIELD_CALLBACK = UCS_BIT(1),
    UCP_OP_ATTR_FIELD_USER_DATA = UCS_BIT(2),
    UCP_OP_ATTR_FIELD_DATATYPE = UCS_BIT(3),
    UCP_OP_ATTR_FIELD_FLAGS = UCS_BIT(4),
    UCP_OP_ATTR_FIELD_REPLY_BUFFER = UCS_BIT(5),
    UCP_OP_ATTR_FIELD_MEMORY_TYPE = UCS_BIT(6),
    UCP_OP_ATTR_FIELD_RECV_INFO = UCS_BIT(7),
    UCP_OP_ATTR_FIELD_MEMH = UCS_BIT(8),

    UCP_OP_ATTR_FLAG_NO_IMM_CMPL = UCS_BIT(16),    /* always return a request, call the callback */
    UCP_OP_ATTR_FLAG_FAST_CMPL = UCS_BIT(17),      /* free the buffer soon, even at more cost */
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = UCS_BIT(18), /* end now, or UCS_ERR_NO_RESOURCE unstarted */
    UCP_OP_ATTR_FLAG_MULTI_SEND = UCS_BIT(19)      /* many in a row: prefer rate to latency */
} ucp_op_attr_t;

/**
 * Parameters of an "nbx" operation. Members without their bit in op_attr_mask are not read.
 *
 * Such an operation returns NULL when it is done at once: the callback is then not called,
 * unless NO_IMM_CMPL is set. An error pointer says that it failed and did not start. Otherwise
 * it returns a request, and the callback is called from ucp_worker_progress.
 */
typedef struct {
    uint32_t op_attr_mask; /* ucp_op_attr_t */
    uint32_t flags;        /* flags of the particular operation */
    void* request;         /* the caller's memory, with ucp_context_attr_t.request_size bytes
                              in front of it; never passed to ucp_request_free */
    union {
        ucp_send_nbx_callback_t send;
        ucp_tag_recv_nbx_callback_t recv;
        ucp_stream_recv_nbx_callback_t recv_stream;
        ucp_am_recv_data_nbx_callback_t recv_am;
    } cb;
    ucp_datatype_t datatype;       /* layout of the buffer; default: bytes */
    void* user_data;               /* handed to the callback */
    void* reply_buffer;            /* result of an atomic operation that fetches */
    ucs_memory_type_t memory_type; /* of the buffer; host or unknown (the default),
                                      otherwise UCS_ERR_UNSUPPORTED */
    union {
        size_t* length;                /* stream: bytes received */
        ucp_tag_recv_info_t* tag_info; /* tag: tag and length of the message */
    } recv_info;                       /* filled when a receive is done at once */
    ucp_mem_h memh;                    /* registration that covers the buffer */
} ucp_request_param_t;

/** Valid members of ucp_request_attr_t. */
typedef enum ucp_req_attr_field {
    UCP_REQUEST_ATTR_FIELD_INFO_STRING = UCS_BIT(0),
    UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = UCS_BIT(1),
    UCP_REQUEST_ATTR_FIELD_STATUS = UCS_BIT(2),
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE = UCS_BIT(3)
} ucp_req_attr_field;

/** Attributes from ucp_request_query. */
typedef struct {
    uint64_t field_mask;        /* in: wanted members, ucp_req_attr_field */
    char* debug_string;         /* in: buffer that gets a description of the operation */
    size_t debug_string_size;   /* in: bytes at debug_string */
    ucs_status_t status;        /* like ucp_request_check_status */
    ucs_memory_type_t mem_type; /* kind of memory of the buffer */
} ucp_request_attr_t;

/**
 * Returns the state of an operation. Makes no progress. Owner thread.
 *
 * @param request  the request that the operation returned.
 * @return UCS_INPROGRESS, or the final status.
 */
ucs_status_t ucp_request_check_status(void* request);

/**
 * Describes a request that was not freed. Owner thread.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when INFO_STRING is wanted without its size.
 */
ucs_status_t ucp_request_query(void* request, ucp_request_attr_t* attr);

/**
 * Cancels an operation. A posted tagged receive that has no message yet completes with
 * UCS_ERR_CANCELED and its callback is called; other operations run to their end. Free the request
 * as usual. Owner thread.
 */
void ucp_request_cancel(ucp_worker_h worker, void* request);

/**
 * Frees a request. If the operation is still running it continues, but its callback will not be
 * called. Allowed inside the callback. Owner thread.
 */
void ucp_request_free(void* request);

/**
 * Takes a request for later use in ucp_request_param_t.request. Owner thread.
 *
 * @return the request, or NULL when there is no memory.
 */
void* ucp_request_alloc(ucp_worker_h worker);

END_C_DECLS

#endif
