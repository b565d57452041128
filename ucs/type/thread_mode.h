/* How many threads may call into one object. */
#ifndef UCS_TYPE_THREAD_MODE_H_
#define UCS_TYPE_THREAD_MODE_H_

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Threads that may use a context or worker. */
typedef enum {
    UCS_THREAD_MODE_SINGLE,     /* only the thread that created the object */
    UCS_THREAD_MODE_SERIALIZED, /* any thread, but the caller keeps calls from overlapping */
    UCS_THREAD_MODE_MULTI,      /* any thread at any time */
    UCS_THREAD_MODE_LAST
} ucs_thread_mode_t;

/** Lower-case names, indexed by ucs_thread_mode_t; a NULL ends the array. In libucs. */
extern const char* ucs_thread_mode_names[];

END_C_DECLS

#endif
