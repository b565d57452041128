/* Handles and limits of the UCT interface. */
#ifndef UCT_API_UCT_DEF_H_
#define UCT_API_UCT_DEF_H_

#include <stddef.h>
#include <stdint.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

/* Room for names, terminating zero included. */
#define UCT_COMPONENT_NAME_MAX 16
#define UCT_TL_NAME_MAX 10
#define UCT_MD_NAME_MAX 16
#define UCT_DEVICE_NAME_MAX 32

/* Opaque objects. */
typedef struct uct_component* uct_component_h; /* a kind of transport */
typedef struct uct_md* uct_md_h;               /* a component with its options */
typedef struct uct_md_config uct_md_config_t;  /* option values */

#endif
