/*
 * The C API of UCT. Its functions list the transports, their devices and their memory domains; to
 * communicate, programs use UCP. The functions of uct/api/communication.h exist only so that
 * programs that refer to them can be linked.
 */
#ifndef UCT_API_UCT_H_
#define UCT_API_UCT_H_

#include <ucs/memory/memory_type.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>
#include <uct/api/communication.h>
#include <uct/api/tl.h>
#include <uct/api/uct_def.h>
#include <uct/api/version.h>

BEGIN_C_DECLS

/** A memory domain that can be opened. */
typedef struct uct_md_resource_desc {
    char md_name[UCT_MD_NAME_MAX];
} uct_md_resource_desc_t;

/** Valid members of uct_component_attr_t. */
enum uct_component_attr_field {
    UCT_COMPONENT_ATTR_FIELD_NAME = UCS_BIT(0),
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = UCS_BIT(1),
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = UCS_BIT(2),
    UCT_COMPONENT_ATTR_FIELD_FLAGS = UCS_BIT(3)
};

/** The attributes that uct_component_query returns. */
typedef struct uct_component_attr {
    uint64_t field_mask;                  /* in: wanted members, uct_component_attr_field */
    char name[UCT_COMPONENT_NAME_MAX];    /* "tcp" */
    unsigned md_resource_count;           /* how many memory domains; 0 when nothing works here */
    uct_md_resource_desc_t* md_resources; /* in: array of that many, which is filled */
    uint64_t flags;                       /* none so far */
} uct_component_attr_t;

/**
 * Lists the components of this library. Any thread.
 *
 * @param components_p      gets an array, for uct_release_component_list.
 * @param num_components_p  gets its length.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM or UCS_ERR_NO_MEMORY.
 */
ucs_status_t uct_query_components(uct_component_h** components_p, unsigned* num_components_p);

/** Frees the array; the components stay. Any thread. */
void uct_release_component_list(uct_component_h* components);

/** Fills the wanted members of *component_attr. Any thread. */
ucs_status_t uct_component_query(uct_component_h component, uct_component_attr_t* component_attr);

/**
 * Collects option values: defaults, configuration file, environment. Any thread.
 *
 * @param env_prefix  NULL, or P so that variables P_UCX_<NAME> win over UCX_<NAME>.
 * @param filename    NULL for the installed ucx.conf, or a file to read instead.
 * @param config_p    gets the values, for uct_config_release.
 * @return UCS_OK, or why they could not be read.
 */
ucs_status_t uct_md_config_read(uct_component_h component, const char* env_prefix,
                                const char* filename, uct_md_config_t** config_p);

/** Frees values from uct_md_config_read. Any thread. */
void uct_config_release(void* config);

/**
 * Opens a memory domain. Any thread.
 *
 * @param md_name  a name from uct_component_attr_t.md_resources.
 * @param config   option values; they may be freed when the call returns.
 * @param md_p     gets the memory domain, for uct_md_close.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_DEVICE (no such name), UCS_ERR_NO_MEMORY.
 */
ucs_status_t uct_md_open(uct_component_h component, const char* md_name,
                         const uct_md_config_t* config, uct_md_h* md_p);

/** Closes a memory domain. Any thread. */
void uct_md_close(uct_md_h md);

END_C_DECLS

#endif
