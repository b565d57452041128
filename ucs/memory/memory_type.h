/* Kinds of memory of a buffer. */
#ifndef UCS_MEMORY_MEMORY_TYPE_H_
#define UCS_MEMORY_MEMORY_TYPE_H_

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/**
 * Kind of memory. UNKNOWN has the value of LAST, so its number grew with the API: 5 up to API
 * 1.15, 6 in 1.16, 9 in 1.17 to 1.20. Programs say which API they were built for when they
 * call ucp_init_version.
 */
typedef enum ucs_memory_type {
    UCS_MEMORY_TYPE_HOST,         /* ordinary system memory */
    UCS_MEMORY_TYPE_CUDA,         /* NVIDIA device memory */
    UCS_MEMORY_TYPE_CUDA_MANAGED, /* NVIDIA memory that migrates between host and device */
    UCS_MEMORY_TYPE_ROCM,         /* AMD device memory */
    UCS_MEMORY_TYPE_ROCM_MANAGED, /* AMD memory that migrates between host and device */
    UCS_MEMORY_TYPE_RDMA,         /* memory on a network adapter */
    UCS_MEMORY_TYPE_ZE_HOST,      /* Level Zero: host memory known to the device */
    UCS_MEMORY_TYPE_ZE_DEVICE,    /* Level Zero: device memory */
    UCS_MEMORY_TYPE_ZE_MANAGED,   /* Level Zero: memory that migrates */
    UCS_MEMORY_TYPE_LAST,
    UCS_MEMORY_TYPE_UNKNOWN = UCS_MEMORY_TYPE_LAST /* let the library find out */
} ucs_memory_type_t;

/** Bit mask of the kinds that a processor can load from and store to. */
#define UCS_MEMORY_TYPES_CPU_ACCESSIBLE \
    (UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ROCM_MANAGED))

/** Loops an integer variable over every kind. */
#define ucs_memory_type_for_each(_x) \
    for ((_x) = UCS_MEMORY_TYPE_HOST; (_x) < UCS_MEMORY_TYPE_LAST; (_x)++)

/** Short names ("host", "cuda", ...), indexed by ucs_memory_type_t, UNKNOWN included. In libucs. */
extern const char* ucs_memory_type_names[];

/** One-line descriptions, indexed by ucs_memory_type_t, UNKNOWN included. In libucs. */
extern const char* ucs_memory_type_descs[];

END_C_DECLS

#endif
