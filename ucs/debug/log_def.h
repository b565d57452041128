/* Writing lines to the library's log, as programs of the UCX family do. */
#ifndef UCS_DEBUG_LOG_DEF_H_
#define UCS_DEBUG_LOG_DEF_H_

#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/**
 * Writes one message to the log (UCX_LOG_FILE, or the standard error), regardless of its level: the
 * caller compares the level with its own setting first. Any thread.
 *
 * @param file       source file of the caller, added at level debug and below; may be NULL.
 * @param line       its line.
 * @param function   not used; may be NULL.
 * @param level      severity that the line shows.
 * @param comp_conf  the caller's component, whose name is printed; may be NULL.
 * @param format     as for printf. The result may have several lines.
 */
void ucs_log_dispatch(const char* file, unsigned line, const char* function, ucs_log_level_t level,
                      const ucs_log_component_config_t* comp_conf, const char* format, ...)
    UCS_F_PRINTF(6, 7);

END_C_DECLS

#endif
