/* Transports on devices. */
#ifndef UCT_API_TL_H_
#define UCT_API_TL_H_

#include <ucs/sys/topo/base/topo.h>
#include <uct/api/uct_def.h>

BEGIN_C_DECLS

/** Kinds of devices. */
typedef enum {
    UCT_DEVICE_TYPE_NET,  /* reaches other hosts */
    UCT_DEVICE_TYPE_SHM,  /* reaches processes on this host */
    UCT_DEVICE_TYPE_ACC,  /* an accelerator */
    UCT_DEVICE_TYPE_SELF, /* reaches the process itself */
    UCT_DEVICE_TYPE_LAST
} uct_device_type_t;

/** A transport that works on a device here. */
typedef struct uct_tl_resource_desc {
    char tl_name[UCT_TL_NAME_MAX];
    char dev_name[UCT_DEVICE_NAME_MAX];
    uct_device_type_t dev_type;
    ucs_sys_device_t sys_device;
} uct_tl_resource_desc_t;

/* For printing a resource as "transport/device". */
#define UCT_TL_RESOURCE_DESC_FMT "%s/%s"
#define UCT_TL_RESOURCE_DESC_ARG(_resource) (_resource)->tl_name, (_resource)->dev_name

/**
 * Lists the transports of a memory domain that work here. Any thread.
 *
 * @param resources_p      gets an array, for uct_release_tl_resource_list; NULL when empty.
 * @param num_resources_p  gets its length.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM or UCS_ERR_NO_MEMORY.
 */
ucs_status_t uct_md_query_tl_resources(uct_md_h md, uct_tl_resource_desc_t** resources_p,
                                       unsigned* num_resources_p);

/** Frees the array; NULL is fine. Any thread. */
void uct_release_tl_resource_list(uct_tl_resource_desc_t* resources);

END_C_DECLS

#endif
