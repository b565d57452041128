/* The library's handling of fatal signals. */
#ifndef UCS_DEBUG_DEBUG_H_
#define UCS_DEBUG_DEBUG_H_

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/**
 * Tells whether the library handles a signal itself, so that a program should leave the signal
 * alone.
 *
 * @param signum  number of the signal.
 * @return 0: this library installs no signal handler.
 */
int ucs_debug_is_error_signal(int signum);

END_C_DECLS

#endif
