/* Operations of every family to a peer that does not make progress, so that they are in flight
 * when the peer fails. Each may end once; operations in flight and their statuses are counted. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { am_id = 7, own_length = 1 << 20, block_length = 1 << 16, small = 64, per_family = 4 };

static ucp_mem_h own_memory, block_memory;
static unsigned char* own_bytes;
static unsigned char* block_bytes;

/* The peer's memory: some of its program, and a block of the library. */
static struct {
    uint64_t address;
    ucp_rkey_h key;
} peer_memory[2];

struct flight {
    struct family* family;
    unsigned char* buffer; /* NULL: none */
};

enum kind {
    tag,
    tag_sync,
    am,
    get,
    put,
    direct_put,
    post,
    fetch,
    stream,
    stream_recv,
    flush,
    flush_worker
};

enum { family_count = 14 };
static struct family {
    const char* name;
    enum kind kind;
    size_t length;
    unsigned started, at_once, pending, failed, succeeded;
    ucs_status_t error; /* the last one */
} families[family_count] = {
    {.name = "tag_eager", .kind = tag, .length = small},
    {.name = "tag_sync", .kind = tag_sync, .length = small},
    {.name = "tag_rndv", .kind = tag, .length = own_length},
    {.name = "am_eager", .kind = am, .length = small},
    {.name = "am_rndv", .kind = am, .length = own_length},
    {.name = "get", .kind = get, .length = own_length},
    {.name = "put", .kind = put, .length = own_length},
    {.name = "post", .kind = post, .length = small},
    {.name = "fetch", .kind = fetch, .length = small},
    {.name = "direct_put", .kind = direct_put, .length = small},
    {.name = "stream", .kind = stream, .length = own_length},
    {.name = "stream_recv", .kind = stream_recv, .length = small},
    {.name = "flush", .kind = flush},
    {.name = "flush_worker", .kind = flush_worker},
};

static void ended(struct flight* which, void* request, ucs_status_t status) {
    struct family* family = which->family;
    --family->pending;
    if (status == UCS_OK) {
        ++family->succeeded;
    } else {
        ++family->failed;
        family->error = status;
    }
    free(which->buffer);
    free(which);
    ucp_request_free(request);
}

static void sent(void* request, ucs_status_t status, void* argument) {
    ended(argument, request, status);
}

static void streamed(void* request, ucs_status_t status, size_t length, void* argument) {
    (void)length;
    ended(argument, request, status);
}

static ucs_status_ptr_t start(ucp_ep_h to, const struct family* family, unsigned char* buffer,
                              ucp_request_param_t* param) {
    const size_t length = family->length;
    const uint64_t address = peer_memory[0].address;
    const ucp_rkey_h key = peer_memory[0].key;
    size_t received = 0;
    switch (family->kind) {
        case tag:
            return ucp_tag_send_nbx(to, buffer, length, 1000, param);
        case tag_sync:
            return ucp_tag_send_sync_nbx(to, buffer, length, 1001, param);
        case am:
            return ucp_am_send_nbx(to, am_id, "header", 6, buffer, length, param);
        case get:
            return ucp_get_nbx(to, buffer, length, address, key, param);
        case put:
            return ucp_put_nbx(to, buffer, length, address, key, param);
        case direct_put:
            return ucp_put_nbx(to, buffer, length, peer_memory[1].address, peer_memory[1].key,
                               param);
        case fetch:
            param->op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
            param->reply_buffer = buffer + 8;
            __attribute__((fallthrough));
        case post:
            param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
            param->datatype = ucp_dt_make_contig(8);
            return ucp_atomic_op_nbx(to, UCP_ATOMIC_OP_ADD, buffer, 1, address, key, param);
        case stream:
            return ucp_stream_send_nbx(to, buffer, length, param);
        case stream_recv:
            param->cb.recv_stream = streamed;
            return ucp_stream_recv_nbx(to, buffer, length, &received, param);
        case flush:
            return ucp_ep_flush_nbx(to, param);
        case flush_worker:
            return ucp_worker_flush_nbx(worker, param);
    }
    return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
}

static void start_one(ucp_ep_h to, struct family* family) {
    struct flight* fresh = malloc(sizeof(*fresh));
    fresh->family = family;
    fresh->buffer = calloc(1, family->length > 0 ? family->length : 1);
    ucp_request_param_t param = {0};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = sent;
    param.user_data = fresh;
    ++family->started;
    ++family->pending;
    const ucs_status_ptr_t result = start(to, family, fresh->buffer, &param);
    if (UCS_PTR_IS_PTR(result)) return;
    --family->pending;
    if (result == NULL) {
        ++family->at_once;
    } else {
        ++family->failed;
        family->error = UCS_PTR_STATUS(result);
    }
    free(fresh->buffer);
    free(fresh);
}

/* One operation of each family after the other, so that they wait for each other. */
static void start_all(ucp_ep_h to) {
    for (unsigned i = 0; i < family_count; ++i) {
        struct family* each = &families[i];
        each->started = each->at_once = each->pending = each->failed = each->succeeded = 0;
    }
    for (unsigned turn = 0; turn < per_family; ++turn) {
        for (unsigned i = 0; i < family_count; ++i)
            start_one(to, &families[i]);
    }
    say("ok");
}

static void describe(void) {
    printf("ok");
    for (unsigned i = 0; i < family_count; ++i) {
        const struct family* each = &families[i];
        printf(" %s=%u/%u/%u/%u/%u/%d", each->name, each->started, each->at_once, each->pending,
               each->failed, each->succeeded, (int)each->error);
    }
    say("%s", "");
}

static bool map_one(ucp_mem_h* memory, unsigned char** bytes, size_t length) {
    ucp_mem_map_params_t params = {0};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = *bytes;
    params.length = length;
    params.flags = *bytes == NULL ? UCP_MEM_MAP_ALLOCATE : 0;
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    if (ucp_mem_map(context, &params, memory) != UCS_OK) return false;
    if (ucp_mem_query(*memory, &attr) != UCS_OK) return false;
    *bytes = attr.address;
    return true;
}

static void print_key(const unsigned char* bytes, ucp_mem_h memory) {
    void* packed = NULL;
    size_t length = 0;
    ucp_rkey_pack(context, memory, &packed, &length);
    printf(" %llx ", (unsigned long long)(uintptr_t)bytes);
    for (size_t i = 0; i < length; ++i)
        printf("%02x", ((unsigned char*)packed)[i]);
    ucp_rkey_buffer_release(packed);
}

static void share_memory(void) {
    own_bytes = calloc(1, own_length);
    if (!map_one(&own_memory, &own_bytes, own_length) ||
        !map_one(&block_memory, &block_bytes, block_length)) {
        say("error ucp_mem_map");
        return;
    }
    printf("ok");
    print_key(own_bytes, own_memory);
    print_key(block_bytes, block_memory);
    say("%s", "");
}

static void take_keys(ucp_ep_h to, const char* text) {
    unsigned long long base[2];
    static char hex[2][256];
    if (sscanf(text, "%llx %255s %llx %255s", &base[0], hex[0], &base[1], hex[1]) != 4) {
        say("error usage: keys EP BASE KEY BASE KEY");
        return;
    }
    for (int i = 0; i < 2; ++i) {
        unsigned char* packed = from_hex(hex[i]);
        const ucs_status_t status = ucp_ep_rkey_unpack(to, packed, &peer_memory[i].key);
        free(packed);
        peer_memory[i].address = base[i];
        if (is_error("ucp_ep_rkey_unpack", status)) return;
    }
    say("ok");
}

/* The peer's mapped memory must stay accessible, even if the peer has ended. */
static void touch_and_drop_keys(void) {
    void* local = NULL;
    const bool mapped = ucp_rkey_ptr(peer_memory[1].key, peer_memory[1].address, &local) == UCS_OK;
    if (mapped) memset(local, 1, block_length);
    for (int i = 0; i < 2; ++i)
        ucp_rkey_destroy(peer_memory[i].key);
    say(mapped ? "ok mapped" : "ok");
}

void forget_memory(void) {
    if (own_memory == NULL) return;
    ucp_mem_unmap(context, own_memory);
    ucp_mem_unmap(context, block_memory);
    free(own_bytes);
    own_memory = NULL;
    own_bytes = block_bytes = NULL;
}

bool on_families(const char* word, char* rest) {
    const ucp_ep_h to = endpoints[strtoul(rest, &rest, 10) % max_endpoints].handle;
    if (strcmp(word, "memory") == 0) {
        share_memory();
    } else if (strcmp(word, "keys") == 0) {
        take_keys(to, rest);
    } else if (strcmp(word, "start") == 0) {
        start_all(to);
    } else if (strcmp(word, "flights") == 0) {
        describe();
    } else if (strcmp(word, "touch") == 0) {
        touch_and_drop_keys();
    } else {
        return false;
    }
    return true;
}
