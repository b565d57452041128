/* Workers: progress, addresses, sleeping, ordering. */
#ifndef UCP_API_UCP_WORKER_H_
#define UCP_API_UCP_WORKER_H_

#include <stdio.h>
#include <ucp/api/ucp_request.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>

BEGIN_C_DECLS

/** Valid members of ucp_worker_params_t. */
enum ucp_worker_params_field {
    UCP_WORKER_PARAM_FIELD_THREAD_MODE = UCS_BIT(0),
    UCP_WORKER_PARAM_FIELD_CPU_MASK = UCS_BIT(1),
    UCP_WORKER_PARAM_FIELD_EVENTS = UCS_BIT(2),
    UCP_WORKER_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    UCP_WORKER_PARAM_FIELD_EVENT_FD = UCS_BIT(4),
    UCP_WORKER_PARAM_FIELD_FLAGS = UCS_BIT(5),
    UCP_WORKER_PARAM_FIELD_NAME = UCS_BIT(6),
    UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(7),
    UCP_WORKER_PARAM_FIELD_CLIENT_ID = UCS_BIT(8)
};

/** Behaviour of a worker; unknown bits are ignored. */
typedef enum {
    UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = UCS_BIT(0) /* no warning for requests not freed */
} ucp_worker_flags_t;

/** Which parts of a worker's address are wanted. */
typedef enum {
    UCP_WORKER_ADDRESS_FLAG_NET_ONLY = UCS_BIT(0) /* leave out what works within one host only */
} ucp_worker_address_flags_t;

/** How a worker is to be made; members without their bit in field_mask are not read. */
typedef struct ucp_worker_params {
    uint64_t field_mask;           /* ucp_worker_params_field */
    ucs_thread_mode_t thread_mode; /* default SINGLE; the worker may get a narrower mode */
    ucs_cpu_set_t cpu_mask;        /* changes nothing: a worker runs in the threads that call it */
    unsigned events;               /* changes nothing: everything signals */
    void* user_data;               /* for the program */
    int event_fd;                  /* epoll descriptor that gets the worker's descriptors */
    uint64_t flags;                /* ucp_worker_flags_t */
    const char* name;              /* for logs; by default one is made up */
    size_t am_alignment;           /* bytes, a power of two: alignment of kept message data */
    uint64_t client_id;            /* shown to servers this worker connects to */
} ucp_worker_params_t;

/** Valid members of ucp_worker_attr_t. */
enum ucp_worker_attr_field {
    UCP_WORKER_ATTR_FIELD_THREAD_MODE = UCS_BIT(0),
    UCP_WORKER_ATTR_FIELD_ADDRESS = UCS_BIT(1),
    UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS = UCS_BIT(2),
    UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = UCS_BIT(3),
    UCP_WORKER_ATTR_FIELD_NAME = UCS_BIT(4),
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5)
};

/** What ucp_worker_query tells. */
typedef struct ucp_worker_attr {
    uint64_t field_mask;            /* in: wanted members, ucp_worker_attr_field */
    ucs_thread_mode_t thread_mode;  /* the mode the worker really has */
    uint32_t address_flags;         /* in: ucp_worker_address_flags_t for address */
    ucp_address_t* address;         /* packed address, for ucp_worker_release_address */
    size_t address_length;          /* bytes at address */
    size_t max_am_header;           /* longest header of an active message, bytes */
    char name[UCP_ENTITY_NAME_MAX]; /* the worker's name */
    size_t max_debug_string;        /* bytes that hold any ucp_request_query description */
} ucp_worker_attr_t;

/** Valid members of ucp_worker_address_attr_t. */
enum ucp_worker_address_attr_field { UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0) };

/** What ucp_worker_address_query tells. */
typedef struct ucp_worker_address_attr {
    uint64_t field_mask; /* in: wanted members, ucp_worker_address_attr_field */
    uint64_t worker_uid; /* number that differs for every worker */
} ucp_worker_address_attr_t;

/**
 * Makes a worker. Any thread; the caller owns it from then on.
 *
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY, or why no interface could be opened.
 */
ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t* params,
                               ucp_worker_h* worker_p);

/** Destroys a worker, its endpoints and what is pending on them, unfinished. Owner thread. */
void ucp_worker_destroy(ucp_worker_h worker);

/** Fills the wanted members of *attr. Returns UCS_OK or an error. Owner thread. */
ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t* attr);

/** Writes what the worker is and uses as text. Owner thread. */
void ucp_worker_print_info(ucp_worker_h worker, FILE* stream);

/**
 * Packs the address that peers need for ucp_ep_create. It tells its own length, so that zeros
 * may follow it. Owner thread.
 *
 * @param address_p         gets the address, for ucp_worker_release_address.
 * @param address_length_p  gets its length in bytes.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t** address_p,
                                    size_t* address_length_p);

/** Frees an address that the worker packed. Owner thread. */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t* address);

/** Reads facts from a packed address. UCS_ERR_INVALID_ADDR when malformed. Any thread. */
ucs_status_t ucp_worker_address_query(ucp_address_t* address, ucp_worker_address_attr_t* attr);

/**
 * Moves communication on and calls callbacks. Not to be called from a callback. Owner thread.
 *
 * @return 0 when nothing happened, otherwise something else.
 */
unsigned ucp_worker_progress(ucp_worker_h worker);

/**
 * File descriptor that becomes readable when the worker should progress; needs
 * UCP_FEATURE_WAKEUP. Belongs to the worker. Owner thread.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without the feature; UCS_ERR_UNSUPPORTED with an event_fd.
 */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int* fd);

/** Sleeps until the worker should progress, or ucp_worker_signal. Owner thread. */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);

/** Waits a moment for a change of the byte at address, or for something to progress. Owner. */
void ucp_worker_wait_mem(ucp_worker_h worker, void* address);

/**
 * Readies the file descriptor for sleeping on it. Owner thread.
 *
 * @return UCS_OK: sleep now; UCS_ERR_BUSY: progress first; or an error.
 */
ucs_status_t ucp_worker_arm(ucp_worker_h worker);

/** Wakes whoever sleeps on the worker. Any thread. */
ucs_status_t ucp_worker_signal(ucp_worker_h worker);

/** Orders remote memory operations: those before it take effect before those after. Owner. */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/**
 * Completes when everything started before it on all endpoints is done, here and, for remote
 * memory, at the target. Owner thread.
 *
 * @param flags  must be 0.
 * @param cb     called at the end, unless NULL is returned.
 * @return NULL, a request, or an error pointer.
 */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags, ucp_send_callback_t cb);

/** As ucp_worker_flush_nb, with the parameters of ucp_request_param_t. Owner thread. */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t* param);

END_C_DECLS

#endif
