/* Memory of the library in two processes: one exports its handle, the other imports it and
 * accesses the same bytes. Not in UCP 1.13. */
#include "pair.h"

enum { extent = 100000 };

static ucp_mem_h own_memory(const struct side* side) {
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = extent,
        .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_h made;
    OK(ucp_mem_map(side->context, &params, &made));
    return made;
}

static unsigned char* bytes_of(ucp_mem_h which) {
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    OK(ucp_mem_query(which, &attr));
    CHECK(attr.address != NULL && attr.length >= extent, "%zu bytes", attr.length);
    return attr.address;
}

static void export(const struct side* side, const struct pair* between) {
    const ucp_memh_pack_params_t params = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
                                           .flags = UCP_MEMH_PACK_FLAG_EXPORT},
                                 plain = {.field_mask = 0};
    const ucp_mem_h made = own_memory(side);
    unsigned char* const bytes = bytes_of(made);
    void* packed;
    size_t length;
    fill(bytes, extent, 1);
    OK(ucp_memh_pack(made, &params, &packed, &length));
    pair_write_sized(between, packed, length);
    ucp_memh_buffer_release(packed, NULL);
    pair_meet(between); /* the peer has imported the handle, read and written */
    check_filled(bytes, extent, 2);
    /* Without the flag it is a key, as ucp_rkey_pack makes them. */
    OK(ucp_memh_pack(made, &plain, &packed, &length));
    const ucp_ep_h self = ep_between(side, side);
    ucp_rkey_h key;
    OK(ucp_ep_rkey_unpack(self, packed, &key));
    const uint64_t word = 77;
    OK(finish(ucp_put_nbx(self, &word, sizeof(word), (uint64_t)(uintptr_t)bytes, key, &no_param)));
    OK(finish(ucp_ep_flush_nbx(self, &no_param)));
    CHECK(memcmp(bytes, &word, sizeof(word)) == 0, "the put is not there");
    ucp_rkey_destroy(key);
    ucp_memh_buffer_release(packed, NULL);
    ep_close(self);
    pair_meet(between);
    OK(ucp_mem_unmap(side->context, made));
}

static void import(const struct side* side, const struct pair* between) {
    void* const packed = pair_read_sized(between);
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
                                         .exported_memh_buffer = packed};
    ucp_mem_h imported;
    OK(ucp_mem_map(side->context, &params, &imported));
    free(packed);
    unsigned char* const bytes = bytes_of(imported);
    check_filled(bytes, extent, 1);
    fill(bytes, extent, 2);
    pair_meet(between);
    pair_meet(between);
    OK(ucp_mem_unmap(side->context, imported));
}

int main(void) {
    const struct pair between = pair_new();
    client_begin("memh");
    const struct side side = side_new(UCP_FEATURE_RMA | UCP_FEATURE_EXPORTED_MEMH);
    if (between.child != 0)
        export(&side, &between);
    else
        import(&side, &between);
    side_free(&side);
    return pair_end(&between);
}
