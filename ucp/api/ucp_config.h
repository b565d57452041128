/* Option values for a context. */
#ifndef UCP_API_UCP_CONFIG_H_
#define UCP_API_UCP_CONFIG_H_

#include <stdio.h>
#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/**
 * Collects option values: defaults, then the configuration file, then the environment. Any
 * thread.
 *
 * @param env_prefix  NULL, or P: variables P_UCX_<NAME> take precedence over UCX_<NAME>.
 * @param filename    NULL for the installed ucx.conf, or a file to read instead.
 * @param config_p    gets the values, to be released by ucp_config_release.
 * @return UCS_OK, UCS_ERR_NO_MEMORY, UCS_ERR_INVALID_PARAM (a value has the wrong form), or the
 *         reason why the file could not be read.
 */
ucs_status_t ucp_config_read(const char* env_prefix, const char* filename, ucp_config_t** config_p);

/** Frees the values; contexts made with them keep their own copy. Any thread. */
void ucp_config_release(ucp_config_t* config);

/**
 * Sets one option. Two threads must not change the same object at the same time. A name that this
 * library does not know is kept without effect, with one log line.
 *
 * @param name   option name without the leading "UCX_".
 * @param value  text, as the environment variable would have it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when the text does not fit the option; the log then lists
 *         valid values.
 */
ucs_status_t ucp_config_modify(ucp_config_t* config, const char* name, const char* value);

/**
 * Writes the values as NAME=value lines. Any thread.
 *
 * @param stream       destination.
 * @param title        heading, used with UCS_CONFIG_PRINT_HEADER.
 * @param print_flags  selects the parts to print.
 */
void ucp_config_print(const ucp_config_t* config, FILE* stream, const char* title,
                      ucs_config_print_flags_t print_flags);

END_C_DECLS

#endif
