/* Memory that is registered, and an endpoint's key to it. */
#ifndef HAWSER_TEST_CLIENT_MEMORY_H
#define HAWSER_TEST_CLIENT_MEMORY_H

#include "client.h"

struct memory {
    unsigned char* bytes;
    ucp_mem_h handle;
    void* packed;
    ucp_rkey_h key;
};

/* `where` NULL: the library finds the memory. */
static inline struct memory share(const struct side* owner, ucp_ep_h ep, void* where,
                                  size_t extent) {
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                       UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                       UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                         .address = where,
                                         .length = extent,
                                         .flags = where == NULL ? UCP_MEM_MAP_ALLOCATE : 0};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    struct memory made;
    size_t length;
    OK(ucp_mem_map(owner->context, &params, &made.handle));
    OK(ucp_mem_query(made.handle, &attr));
    CHECK(attr.address != NULL && (where == NULL || attr.address == where), "another place");
    CHECK(attr.length >= extent, "%zu bytes", attr.length);
    made.bytes = attr.address;
    OK(ucp_rkey_pack(owner->context, made.handle, &made.packed, &length));
    OK(ucp_ep_rkey_unpack(ep, made.packed, &made.key));
    return made;
}

static inline void unshare(const struct side* owner, const struct memory* which) {
    ucp_rkey_destroy(which->key);
    ucp_rkey_buffer_release(which->packed);
    OK(ucp_mem_unmap(owner->context, which->handle));
}

#endif
