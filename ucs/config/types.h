/* Types of configuration values that appear in the public interfaces. */
#ifndef UCS_CONFIG_TYPES_H_
#define UCS_CONFIG_TYPES_H_

#include <sys/socket.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** How much is logged: a level includes all levels above it in this list. */
typedef enum {
    UCS_LOG_LEVEL_FATAL,       /* the process cannot go on */
    UCS_LOG_LEVEL_ERROR,       /* an operation failed */
    UCS_LOG_LEVEL_WARN,        /* suspicious, but the operation goes on */
    UCS_LOG_LEVEL_DIAG,        /* a problem that the library worked around */
    UCS_LOG_LEVEL_INFO,        /* facts that may interest a user */
    UCS_LOG_LEVEL_DEBUG,       /* decisions and rare events */
    UCS_LOG_LEVEL_TRACE,       /* steps of rare events */
    UCS_LOG_LEVEL_TRACE_REQ,   /* every request */
    UCS_LOG_LEVEL_TRACE_DATA,  /* every packet */
    UCS_LOG_LEVEL_TRACE_ASYNC, /* every asynchronous event */
    UCS_LOG_LEVEL_TRACE_FUNC,  /* every call of an internal function */
    UCS_LOG_LEVEL_TRACE_POLL,  /* every poll */
    UCS_LOG_LEVEL_LAST,
    UCS_LOG_LEVEL_PRINT /* always, without level or source position */
} ucs_log_level_t;

/** The method that drives asynchronous work. */
typedef enum {
    UCS_ASYNC_MODE_SIGNAL,
    UCS_ASYNC_MODE_THREAD,
    UCS_ASYNC_MODE_THREAD_SPINLOCK = UCS_ASYNC_MODE_THREAD,
    UCS_ASYNC_MODE_THREAD_MUTEX,
    UCS_ASYNC_MODE_POLL,
    UCS_ASYNC_MODE_LAST
} ucs_async_mode_t;

/** Lower-case names, indexed by ucs_async_mode_t; a NULL ends the array. In libucs. */
extern const char* ucs_async_mode_names[];

/** Value of an option that may also be left to the library or attempted. */
typedef enum ucs_ternary_auto_value {
    UCS_NO = 0,
    UCS_YES = 1,
    UCS_TRY = 2,  /* yes where possible, no error where not */
    UCS_AUTO = 3, /* the library decides */
    UCS_TERNARY_LAST
} ucs_ternary_auto_value_t;

/** Value of a switch that may be left to the library. */
typedef enum ucs_on_off_auto_value {
    UCS_CONFIG_OFF = 0,
    UCS_CONFIG_ON = 1,
    UCS_CONFIG_AUTO = 2,
    UCS_CONFIG_ON_OFF_LAST
} ucs_on_off_auto_value_t;

/** The reaction to a fatal signal. */
typedef enum {
    UCS_HANDLE_ERROR_BACKTRACE, /* print where it happened */
    UCS_HANDLE_ERROR_FREEZE,    /* stop and wait for a debugger */
    UCS_HANDLE_ERROR_DEBUG,     /* start a debugger */
    UCS_HANDLE_ERROR_NONE,      /* nothing */
    UCS_HANDLE_ERROR_LAST
} ucs_handle_error_t;

/** The parts of a printed configuration; combine with "or". */
typedef enum {
    UCS_CONFIG_PRINT_CONFIG = UCS_BIT(0),         /* NAME=value lines */
    UCS_CONFIG_PRINT_HEADER = UCS_BIT(1),         /* the title */
    UCS_CONFIG_PRINT_DOC = UCS_BIT(2),            /* help text of every option */
    UCS_CONFIG_PRINT_HIDDEN = UCS_BIT(3),         /* rarely needed options too */
    UCS_CONFIG_PRINT_COMMENT_DEFAULT = UCS_BIT(4) /* '#' before values that are defaults */
} ucs_config_print_flags_t;

/** A counted array as a member of an options structure. */
#define UCS_CONFIG_ARRAY_FIELD(_type, _array_name) \
    struct {                                       \
        _type* _array_name;                        \
        unsigned count;                            \
        unsigned pad;                              \
    }

#define UCS_CONFIG_STRING_ARRAY_FIELD(_array_name) UCS_CONFIG_ARRAY_FIELD(char*, _array_name)

/** A list of strings. */
typedef UCS_CONFIG_STRING_ARRAY_FIELD(names) ucs_config_names_array_t;

/** How a list of names selects. */
typedef enum {
    UCS_CONFIG_ALLOW_LIST_ALLOW_ALL, /* everything */
    UCS_CONFIG_ALLOW_LIST_ALLOW,     /* what is listed */
    UCS_CONFIG_ALLOW_LIST_NEGATE     /* what is not listed */
} ucs_config_allow_list_mode_t;

/** Names with their meaning. */
typedef struct {
    ucs_config_names_array_t array;
    ucs_config_allow_list_mode_t mode;
} ucs_config_allow_list_t;

/** A socket address by reference. */
typedef struct ucs_sock_addr {
    const struct sockaddr* addr; /* the address */
    socklen_t addrlen;           /* its length in bytes */
} ucs_sock_addr_t;

/** Log settings of one part of the library. */
typedef struct ucs_log_component_config {
    ucs_log_level_t log_level;
    char name[16];           /* printed in every line */
    const char* file_filter; /* only source files that match this pattern */
} ucs_log_component_config_t;

END_C_DECLS

#endif
