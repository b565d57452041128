/* Status codes and status pointers of the UCX C interface. */
#ifndef UCS_TYPE_STATUS_H_
#define UCS_TYPE_STATUS_H_

#include <stdint.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/**
 * Result of an operation. One signed byte wide: the packed attribute is part of the ABI.
 * Zero is success, UCS_INPROGRESS means "not finished yet", negative values are errors.
 */
typedef enum {
    UCS_OK = 0,                         /* done */
    UCS_INPROGRESS = 1,                 /* started, not finished */
    UCS_ERR_NO_MESSAGE = -1,            /* no matching message is there */
    UCS_ERR_NO_RESOURCE = -2,           /* out of a transient resource: progress, then try again */
    UCS_ERR_IO_ERROR = -3,              /* the system reported an input or output error */
    UCS_ERR_NO_MEMORY = -4,             /* memory could not be allocated */
    UCS_ERR_INVALID_PARAM = -5,         /* an argument is wrong */
    UCS_ERR_UNREACHABLE = -6,           /* no transport reaches the peer */
    UCS_ERR_INVALID_ADDR = -7,          /* an address is malformed or not mapped */
    UCS_ERR_NOT_IMPLEMENTED = -8,       /* the function does not exist here */
    UCS_ERR_MESSAGE_TRUNCATED = -9,     /* the message is longer than the receive buffer */
    UCS_ERR_NO_PROGRESS = -10,          /* nothing could be progressed */
    UCS_ERR_BUFFER_TOO_SMALL = -11,     /* the buffer given cannot hold the result */
    UCS_ERR_NO_ELEM = -12,              /* the element does not exist */
    UCS_ERR_SOME_CONNECTS_FAILED = -13, /* part of several connections failed */
    UCS_ERR_NO_DEVICE = -14,            /* the device does not exist */
    UCS_ERR_BUSY = -15,                 /* in use, or events are pending */
    UCS_ERR_CANCELED = -16,             /* the operation was canceled */
    UCS_ERR_SHMEM_SEGMENT = -17,        /* a shared memory segment could not be used */
    UCS_ERR_ALREADY_EXISTS = -18,       /* the element exists already */
    UCS_ERR_OUT_OF_RANGE = -19,         /* a value lies outside its range */
    UCS_ERR_TIMED_OUT = -20,            /* a time limit passed */
    UCS_ERR_EXCEEDS_LIMIT = -21,        /* a limit of the implementation is exceeded */
    UCS_ERR_UNSUPPORTED = -22,          /* the combination is not supported */
    UCS_ERR_REJECTED = -23,             /* the peer refused */
    UCS_ERR_NOT_CONNECTED = -24,        /* the connection was closed in order */
    UCS_ERR_CONNECTION_RESET = -25,     /* the peer closed or died */

    UCS_ERR_FIRST_LINK_FAILURE = -40,
    UCS_ERR_LAST_LINK_FAILURE = -59,
    UCS_ERR_FIRST_ENDPOINT_FAILURE = -60,
    UCS_ERR_ENDPOINT_TIMEOUT = -80, /* the peer did not answer in time */
    UCS_ERR_LAST_ENDPOINT_FAILURE = -89,

    UCS_ERR_LAST = -100
} __attribute__((packed)) ucs_status_t;

/**
 * The return type of non-blocking operations: NULL when done, an error encoded as one of the
 * highest 100 pointer values, or a pointer to a request in flight.
 */
typedef void* ucs_status_ptr_t;

#define UCS_PTR_IS_ERR(_ptr) (((uintptr_t)(_ptr)) >= ((uintptr_t)UCS_ERR_LAST))
#define UCS_PTR_IS_PTR(_ptr) (((uintptr_t)(_ptr)-1) < ((uintptr_t)UCS_ERR_LAST - 1))
#define UCS_PTR_RAW_STATUS(_ptr) ((ucs_status_t)(intptr_t)(_ptr))
#define UCS_PTR_STATUS(_ptr) (UCS_PTR_IS_PTR(_ptr) ? UCS_INPROGRESS : UCS_PTR_RAW_STATUS(_ptr))
#define UCS_STATUS_PTR(_status) ((void*)(intptr_t)(_status))
#define UCS_STATUS_IS_ERR(_status) ((_status) < 0)

/* True if an error is in the range reserved for links, or for endpoints. */
#define UCS_IS_LINK_ERROR(_code) \
    (((_code) <= UCS_ERR_FIRST_LINK_FAILURE) && ((_code) >= UCS_ERR_LAST_LINK_FAILURE))
#define UCS_IS_ENDPOINT_ERROR(_code) \
    (((_code) <= UCS_ERR_FIRST_ENDPOINT_FAILURE) && ((_code) >= UCS_ERR_LAST_ENDPOINT_FAILURE))

/**
 * English text of a status.
 *
 * @param status  any value; unknown ones give a text too.
 * @return a string that lives as long as the library. Any thread may call.
 */
const char* ucs_status_string(ucs_status_t status);

END_C_DECLS

#endif
