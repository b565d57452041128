/* The library as a whole, and contexts. */
#ifndef UCP_API_UCP_CONTEXT_H_
#define UCP_API_UCP_CONTEXT_H_

#include <stdio.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/type/thread_mode.h>

BEGIN_C_DECLS

/** Valid members of ucp_params_t. */
enum ucp_params_field {
    UCP_PARAM_FIELD_FEATURES = UCS_BIT(0),
    UCP_PARAM_FIELD_REQUEST_SIZE = UCS_BIT(1),
    UCP_PARAM_FIELD_REQUEST_INIT = UCS_BIT(2),
    UCP_PARAM_FIELD_REQUEST_CLEANUP = UCS_BIT(3),
    UCP_PARAM_FIELD_TAG_SENDER_MASK = UCS_BIT(4),
    UCP_PARAM_FIELD_MT_WORKERS_SHARED = UCS_BIT(5),
    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = UCS_BIT(6),
    UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = UCS_BIT(7),
    UCP_PARAM_FIELD_NAME = UCS_BIT(8),
    UCP_PARAM_FIELD_NODE_LOCAL_ID = UCS_BIT(9)
};

/** What a program wants to do with a context. */
enum ucp_feature {
    UCP_FEATURE_TAG = UCS_BIT(0),           /* tagged messages */
    UCP_FEATURE_RMA = UCS_BIT(1),           /* remote memory access */
    UCP_FEATURE_AMO32 = UCS_BIT(2),         /* atomic operations on 32 bits */
    UCP_FEATURE_AMO64 = UCS_BIT(3),         /* atomic operations on 64 bits */
    UCP_FEATURE_WAKEUP = UCS_BIT(4),        /* sleeping until something happens */
    UCP_FEATURE_STREAM = UCS_BIT(5),        /* byte streams */
    UCP_FEATURE_AM = UCS_BIT(6),            /* active messages */
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7), /* memory handles for other processes */
    UCP_FEATURE_DEVICE = UCS_BIT(8)         /* communication started on an accelerator */
};

/** How a context is to be made; members without their bit in field_mask are not read. */
typedef struct ucp_params {
    uint64_t field_mask;                            /* ucp_params_field */
    uint64_t features;                              /* ucp_feature, at least one */
    size_t request_size;                            /* bytes of a request for the program's use */
    ucp_request_init_callback_t request_init;       /* prepares that part, once per object */
    ucp_request_cleanup_callback_t request_cleanup; /* undoes it, once per object */
    uint64_t tag_sender_mask; /* tag bits that name the sender; default 0: none */
    int mt_workers_shared;    /* not 0: workers of this context run in different threads */
    size_t estimated_num_eps; /* how many endpoints to expect */
    size_t estimated_num_ppn; /* how many processes on this host to expect; changes nothing yet */
    const char* name;         /* for logs; by default one is made up */
    size_t node_local_id;     /* number of this process on this host; changes nothing yet */
} ucp_params_t;

/** Valid members of ucp_lib_attr_t. */
enum ucp_lib_attr_field { UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0) };

/** What ucp_lib_query tells. */
typedef struct ucp_lib_attr {
    uint64_t field_mask;                /* in: wanted members, ucp_lib_attr_field */
    ucs_thread_mode_t max_thread_level; /* the widest mode a worker can have */
} ucp_lib_attr_t;

/** Valid members of ucp_context_attr_t. */
enum ucp_context_attr_field {
    UCP_ATTR_FIELD_REQUEST_SIZE = UCS_BIT(0),
    UCP_ATTR_FIELD_THREAD_MODE = UCS_BIT(1),
    UCP_ATTR_FIELD_MEMORY_TYPES = UCS_BIT(2),
    UCP_ATTR_FIELD_NAME = UCS_BIT(3),
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4)
};

/** What ucp_context_query tells. */
typedef struct ucp_context_attr {
    uint64_t field_mask;            /* in: wanted members, ucp_context_attr_field */
    size_t request_size;            /* bytes the library needs before a request of the caller's */
    ucs_thread_mode_t thread_mode;  /* MULTI when workers may run in different threads */
    uint64_t memory_types;          /* bit n: buffers of ucs_memory_type_t n can be used */
    char name[UCP_ENTITY_NAME_MAX]; /* the context's name */
    size_t device_counter_size;     /* bytes of a completion counter in device memory */
} ucp_context_attr_t;

/**
 * Tells what the library can do. Any thread.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a NULL pointer.
 */
ucs_status_t ucp_lib_query(ucp_lib_attr_t* attr);

/** Version of the library that runs, not of the headers. Any thread. */
void ucp_get_version(unsigned* major_version, unsigned* minor_version, unsigned* release_number);

/** The version as text "major.minor.release", valid for ever. Any thread. */
const char* ucp_get_version_string(void);

/**
 * Makes a context; call it through ucp_init, which fills in the versions. Any thread.
 *
 * @param api_major_version, api_minor_version  interface that the caller was compiled for; a
 *                   newer one than the library's is worth a warning, not an error.
 * @param params     what the program needs; features must be given.
 * @param config     option values, or NULL for those of the environment.
 * @param context_p  gets the context, to be released by ucp_cleanup.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM (also for an option's value), UCS_ERR_NO_MEMORY,
 *         UCS_ERR_NO_DEVICE (no transport is left). A feature that this library does not know is
 *         no error.
 */
ucs_status_t ucp_init_version(unsigned api_major_version, unsigned api_minor_version,
                              const ucp_params_t* params, const ucp_config_t* config,
                              ucp_context_h* context_p);

/** Makes a context for the interface version of these headers: see ucp_init_version. */
static inline ucs_status_t ucp_init(const ucp_params_t* params, const ucp_config_t* config,
                                    ucp_context_h* context_p) {
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config, context_p);
}

/** Destroys a context after all of its workers and registrations are gone. Any thread. */
void ucp_cleanup(ucp_context_h context_p);

/** Fills the wanted members of *attr. Returns UCS_OK or UCS_ERR_INVALID_PARAM. Any thread. */
ucs_status_t ucp_context_query(ucp_context_h context_p, ucp_context_attr_t* attr);

/** Writes the memory domains and transport resources of a context as text. Any thread. */
void ucp_context_print_info(const ucp_context_h context, FILE* stream);

END_C_DECLS

#endif
