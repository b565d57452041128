/*
 * Queries about the library itself.
 */
#ifndef UCG_API_UCG_INFO_H_
#define UCG_API_UCG_INFO_H_

#include <ucg/api/ucg.h>

BEGIN_C_DECLS

/**
 * Names of the algorithms of a collective, for ucg_coll_args_t.algorithm. An algorithm may not
 * support every call: ucg_request_init() then returns UCS_ERR_NO_ELEM.
 *
 * @param index  0, 1 and so on.
 * @return The name, which lives as long as the library. NULL after the last one, and for an invalid
 * collective.
 */
const char* ucg_algorithm_name(ucg_coll_t coll, unsigned index);

END_C_DECLS

#endif
