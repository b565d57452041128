/* Registered memory, and the keys by which peers reach it. */
#ifndef UCP_API_UCP_MEM_H_
#define UCP_API_UCP_MEM_H_

#include <stdio.h>
#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Valid members of ucp_mem_map_params_t. */
enum ucp_mem_map_params_field {
    UCP_MEM_MAP_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_MAP_PARAM_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_MAP_PARAM_FIELD_FLAGS = UCS_BIT(2),
    UCP_MEM_MAP_PARAM_FIELD_PROT = UCS_BIT(3),
    UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = UCS_BIT(4),
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5)
};

/** Behaviour of ucp_mem_map. NONBLOCK, SYMMETRIC_RKEY and LOCK are accepted without effect. */
enum {
    UCP_MEM_MAP_NONBLOCK = UCS_BIT(0),       /* may return before pages are backed */
    UCP_MEM_MAP_ALLOCATE = UCS_BIT(1),       /* the library allocates */
    UCP_MEM_MAP_FIXED = UCS_BIT(2),          /* allocate exactly at address */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3), /* try for keys that are equal on all processes */
    UCP_MEM_MAP_LOCK = UCS_BIT(4)            /* keep the pages in memory from now on */
};

/** Allowed accesses. */
enum {
    UCP_MEM_MAP_PROT_LOCAL_READ = UCS_BIT(0),
    UCP_MEM_MAP_PROT_LOCAL_WRITE = UCS_BIT(1),
    UCP_MEM_MAP_PROT_REMOTE_READ = UCS_BIT(8),
    UCP_MEM_MAP_PROT_REMOTE_WRITE = UCS_BIT(9)
};

/** Memory to register; members without their bit in field_mask are not read. */
typedef struct ucp_mem_map_params {
    uint64_t field_mask;              /* ucp_mem_map_params_field */
    void* address;                    /* first byte; NULL with ALLOCATE: anywhere */
    size_t length;                    /* bytes; 0 gives a handle without memory */
    unsigned flags;                   /* UCP_MEM_MAP_* */
    unsigned prot;                    /* UCP_MEM_MAP_PROT_*; default: all */
    ucs_memory_type_t memory_type;    /* default: detected; for ALLOCATE: host */
    const void* exported_memh_buffer; /* another process's memory, packed with EXPORT */
} ucp_mem_map_params_t;

/** Expected use of memory. */
typedef enum ucp_mem_advice {
    UCP_MADV_NORMAL = 0, /* nothing special */
    UCP_MADV_WILLNEED    /* needed soon */
} ucp_mem_advice_t;

/** Valid members of ucp_mem_advise_params_t; all three must be given. */
enum ucp_mem_advise_params_field {
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = UCS_BIT(2)
};

/** A part of registered memory, and its expected use. */
typedef struct ucp_mem_advise_params {
    uint64_t field_mask;     /* ucp_mem_advise_params_field */
    void* address;           /* first byte */
    size_t length;           /* bytes */
    ucp_mem_advice_t advice; /* the use */
} ucp_mem_advise_params_t;

/** Behaviour of ucp_memh_pack. */
enum ucp_memh_pack_flags {
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0) /* for ucp_mem_map elsewhere, not for an rkey */
};

/** Valid members of ucp_memh_pack_params_t. */
enum ucp_memh_pack_params_field { UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0) };

/** Parameters of ucp_memh_pack. */
typedef struct ucp_memh_pack_params {
    uint64_t field_mask; /* ucp_memh_pack_params_field */
    uint64_t flags;      /* ucp_memh_pack_flags */
} ucp_memh_pack_params_t;

/** Parameters of ucp_memh_buffer_release; no members so far. */
typedef struct ucp_memh_buffer_release_params {
    uint64_t field_mask; /* 0 */
} ucp_memh_buffer_release_params_t;

/** Parameters of ucp_rkey_compare; no members so far. */
typedef struct ucp_rkey_compare_params {
    uint64_t field_mask; /* 0 */
} ucp_rkey_compare_params_t;

/**
 * Registers the caller's memory, allocates memory, or imports another process's. Any thread.
 *
 * @param memh_p  gets the handle, for ucp_mem_unmap.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY, UCS_ERR_IO_ERROR (the system refused),
 *         UCS_ERR_UNSUPPORTED (no host memory), UCS_ERR_NO_ELEM (FIXED: the address is in use),
 *         UCS_ERR_UNREACHABLE (the exported memory cannot be mapped here).
 */
ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                         ucp_mem_h* memh_p);

/** Ends a registration that no operation uses, and frees allocated memory. Any thread. */
ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh);

/** Fills the wanted members of *attr. Any thread. */
ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t* attr);

/** Allocates mem_size (text such as "4K"), prints the result, and frees it. Any thread. */
void ucp_mem_print_info(const char* mem_size, ucp_context_h context, FILE* stream);

/** Advises the library how a part of registered memory will be used. Any thread. */
ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh, ucp_mem_advise_params_t* params);

/**
 * Packs a handle for other processes. Any thread.
 *
 * @param buffer_p       gets the bytes, for ucp_memh_buffer_release.
 * @param buffer_size_p  gets their number.
 * @return UCS_OK, UCS_ERR_NO_MEMORY, or UCS_ERR_UNSUPPORTED (this memory cannot be exported).
 */
ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t* params, void** buffer_p,
                           size_t* buffer_size_p);

/** Frees the buffer of ucp_memh_pack. Any thread. */
void ucp_memh_buffer_release(void* buffer, const ucp_memh_buffer_release_params_t* params);

/** Older form of ucp_memh_pack without flags: bytes for ucp_ep_rkey_unpack. Any thread. */
ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh, void** rkey_buffer_p,
                           size_t* size_p);

/** Frees the buffer of ucp_rkey_pack. Any thread. */
void ucp_rkey_buffer_release(void* rkey_buffer);

/**
 * Makes a key for the memory of an endpoint's peer. Owner thread.
 *
 * @param rkey_buffer  the key that the peer packed; it contains its own length.
 * @param rkey_p       gets the key, for ucp_rkey_destroy; valid for this endpoint.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void* rkey_buffer, ucp_rkey_h* rkey_p);

/**
 * Returns a local pointer for direct loads and stores of remote memory. Owner thread.
 *
 * @param raddr   address at the peer.
 * @param addr_p  gets the pointer.
 * @return UCS_OK, UCS_ERR_UNREACHABLE (not mapped here), UCS_ERR_INVALID_ADDR (outside).
 */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void** addr_p);

/**
 * Orders two keys of a worker. Owner thread.
 *
 * @param result  gets 0 if they are interchangeable, otherwise a negative or positive number.
 */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1, ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t* params, int* result);

/** Destroys a key that no operation uses. Owner thread. */
void ucp_rkey_destroy(ucp_rkey_h rkey);

END_C_DECLS

#endif
