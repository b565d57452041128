/*
 * Host side of the device API, by which GPU kernels start communication. This library does not
 * support GPU memory, so functions that make an object return UCS_ERR_UNSUPPORTED, and the others
 * have no object to act on. Programs that use the device API can still be linked and loaded, and
 * fall back to the host API.
 */
#ifndef UCP_HOST_H_
#define UCP_HOST_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucp/api/ucp_def.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** Lists of memory that a kernel uses: local memory, memory of peers, and pairs of both. */
typedef struct ucp_device_local_mem_list* ucp_device_local_mem_list_h;
typedef struct ucp_device_remote_mem_list* ucp_device_remote_mem_list_h;
typedef struct ucp_device_mem_list_handle* ucp_device_mem_list_handle_h;

/** Members of ucp_device_mem_list_elem_t that are valid. */
enum ucp_device_mem_list_elem_field {
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH = UCS_BIT(0),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY = UCS_BIT(1),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR = UCS_BIT(2),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR = UCS_BIT(3),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH = UCS_BIT(4),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP = UCS_BIT(5)
};

/** One piece of memory of a list. */
typedef struct ucp_device_mem_list_elem {
    uint64_t field_mask;  /* ucp_device_mem_list_elem_field bits */
    ucp_mem_h memh;       /* handle of the local memory */
    void* local_addr;     /* begin of the local memory */
    size_t length;        /* its length in bytes */
    uint64_t remote_addr; /* begin of the peer's memory */
    ucp_rkey_h rkey;      /* unpacked key of the peer's memory */
    ucp_ep_h ep;          /* endpoint to the peer */
} ucp_device_mem_list_elem_t;

/** Members of ucp_device_mem_list_params_t that are valid. */
enum ucp_device_mem_list_params_field {
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS = UCS_BIT(0),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE = UCS_BIT(1),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS = UCS_BIT(2),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER = UCS_BIT(3)
};

/** An array of pieces of memory. */
typedef struct ucp_device_mem_list_params {
    uint64_t field_mask;                        /* ucp_device_mem_list_params_field bits */
    size_t element_size;                        /* bytes from one element to the next */
    size_t num_elements;                        /* length of the array */
    ucp_worker_h worker;                        /* worker that the list belongs to */
    const ucp_device_mem_list_elem_t* elements; /* the array */
} ucp_device_mem_list_params_t;

/**
 * Makes a list of local memory for kernels. Any thread.
 *
 * @param params      the pieces of memory.
 * @param mem_list_h  not changed.
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucp_device_local_mem_list_create(const ucp_device_mem_list_params_t* params,
                                              ucp_device_local_mem_list_h* mem_list_h);

/**
 * Makes a list of peers' memory for kernels. Any thread.
 *
 * @param params      the pieces of memory.
 * @param mem_list_h  not changed.
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucp_device_remote_mem_list_create(const ucp_device_mem_list_params_t* params,
                                               ucp_device_remote_mem_list_h* mem_list_h);

/**
 * Makes a list of pairs of local and remote memory, as version 1.20 of UCX does. The params of that
 * version have no worker, and its elements no endpoint. Any thread.
 *
 * @param ep      endpoint to the peer.
 * @param params  the pieces of memory.
 * @param handle  not changed.
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucp_device_mem_list_create(ucp_ep_h ep, const ucp_device_mem_list_params_t* params,
                                        ucp_device_mem_list_handle_h* handle);

/**
 * Returns the number of elements of a list. Any thread.
 *
 * @param mem_list_h  a list of any of these kinds.
 * @return 0: no list can be made.
 */
uint32_t ucp_device_get_mem_list_length(const void* mem_list_h);

/** Frees a list of any of these kinds. Does nothing, because no list can be made. Any thread. */
void ucp_device_mem_list_release(void* mem_list_h);

/** Members of ucp_device_counter_params_t that are valid. */
enum ucp_device_counter_params_field {
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE = UCS_BIT(0),
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH = UCS_BIT(1)
};

/** The memory of a counter. */
typedef struct ucp_device_counter_params {
    uint64_t field_mask;        /* ucp_device_counter_params_field bits */
    ucs_memory_type_t mem_type; /* kind of the counter's memory */
    ucp_mem_h memh;             /* its handle */
} ucp_device_counter_params_t;

/**
 * Prepares a counter that peers' kernels increment. Owner thread.
 *
 * @param worker       worker that the counter belongs to.
 * @param params       the counter's memory.
 * @param counter_ptr  address of the counter; the counter is not changed.
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucp_device_counter_init(ucp_worker_h worker, const ucp_device_counter_params_t* params,
                                     void* counter_ptr);

/**
 * Reads a counter. Owner thread.
 *
 * @param worker       worker that the counter belongs to.
 * @param params       the counter's memory.
 * @param counter_ptr  address of the counter; the counter is not read.
 * @return 0: no counter can be prepared.
 */
uint64_t ucp_device_counter_read(ucp_worker_h worker, const ucp_device_counter_params_t* params,
                                 void* counter_ptr);

END_C_DECLS

#endif
