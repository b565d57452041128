/* Contexts of asynchronous work, which programs create for UCT's communication functions. */
#ifndef UCS_ASYNC_FWD_H_
#define UCS_ASYNC_FWD_H_

#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

typedef struct ucs_async_context ucs_async_context_t;

/**
 * Creates a context. This library has no function that takes one (uct/api/communication.h), so
 * programs must do without. In libucs. Any thread.
 *
 * @return UCS_ERR_UNSUPPORTED; *async_p is not set.
 */
ucs_status_t ucs_async_context_create(ucs_async_mode_t mode, ucs_async_context_t** async_p);

/** Destroys a context: does nothing, because no context exists. In libucs. Any thread. */
void ucs_async_context_destroy(ucs_async_context_t* async);

END_C_DECLS

#endif
