/*
 * What can be asked about the library itself.
 */
#ifndef UCG_API_UCG_INFO_H_
#define UCG_API_UCG_INFO_H_

#include <ucg/api/ucg.h>

BEGIN_C_DECLS

/**
 * Names of the algorithms of a collective, which ucg_coll_args_t.algorithm takes. Not each of them
 * serves every call: ucg_request_init() answers UCS_ERR_NO_ELEM then.
 *
 * @param index  0, 1 and so on.
 * @return The name, which lives as long as the library. NULL after the last one, and for what is no
 * collective.
 */
const char* ucg_algorithm_name(ucg_coll_t coll, unsigned index);

END_C_DECLS

#endif
