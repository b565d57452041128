/* The type that numbers the devices of the machine in UCX's interface. */
#ifndef UCS_SYS_TOPO_BASE_TOPO_H_
#define UCS_SYS_TOPO_BASE_TOPO_H_

#include <stdint.h>

/** Number of a device within this process, or UCS_SYS_DEVICE_ID_UNKNOWN. */
typedef uint8_t ucs_sys_device_t;

#define UCS_SYS_DEVICE_ID_UNKNOWN UINT8_MAX

#endif
