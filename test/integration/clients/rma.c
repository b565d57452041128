/* Remote memory: put and get to memory of the program and of the library, flush and fence, and
 * atomic operations of both sizes from two endpoints. */
#include "memory.h"

enum { extent = largest + 64 };
static unsigned char out[largest], in[largest];

static uint64_t at(const struct memory* which, size_t offset) {
    return (uint64_t)(uintptr_t)which->bytes + offset;
}

/* Bytes around the written ones must not change, and a get must return the same bytes. */
static void transfer(ucp_ep_h ep, const struct memory* target, size_t length, size_t offset) {
    const unsigned seed = (unsigned)(length + offset);
    fill(out, length, seed);
    memset(in, 0, length);
    memset(target->bytes, 0x5a, extent);
    OK(finish(ucp_put_nbx(ep, out, length, at(target, offset), target->key, &no_param)));
    OK(finish(ucp_ep_flush_nbx(ep, &no_param)));
    check_filled(target->bytes + offset, length, seed);
    CHECK(offset == 0 || target->bytes[offset - 1] == 0x5a, "the byte before was written");
    CHECK(target->bytes[offset + length] == 0x5a, "the byte behind was written");
    OK(finish(ucp_get_nbx(ep, in, length, at(target, offset), target->key, &no_param)));
    check_filled(in, length, seed);
}

/* Without requests: the buffers are in use until the flush ends. */
static void implicit(const struct side* from, ucp_ep_h ep, const struct memory* target) {
    enum { piece = 1000, count = 200 };
    fill(out, piece * count, 5);
    memset(in, 0, piece * count);
    for (size_t i = 0; i < count; ++i) {
        const ucs_status_t status =
            ucp_put_nbi(ep, out + i * piece, piece, at(target, i * piece), target->key);
        CHECK(status == UCS_OK || status == UCS_INPROGRESS, "%s", ucs_status_string(status));
    }
    OK(finish(ucp_worker_flush_nbx(from->worker, &no_param)));
    check_filled(target->bytes, piece * count, 5);
    for (size_t i = 0; i < count; ++i) {
        const ucs_status_t status =
            ucp_get_nbi(ep, in + i * piece, piece, at(target, i * piece), target->key);
        CHECK(status == UCS_OK || status == UCS_INPROGRESS, "%s", ucs_status_string(status));
    }
    OK(finish(ucp_worker_flush_nbx(from->worker, &no_param)));
    check_filled(in, piece * count, 5);
}

/* When a fence separates two puts to the same bytes, the second one must win. */
static void fenced(const struct side* from, ucp_ep_h ep, const struct memory* target) {
    for (unsigned i = 0; i < size_count; ++i) {
        ucs_status_ptr_t puts[2];
        static unsigned char first[largest];
        fill(first, sizes[i], 1);
        fill(out, sizes[i], 2);
        puts[0] = ucp_put_nbx(ep, first, sizes[i], at(target, 0), target->key, &no_param);
        OK(ucp_worker_fence(from->worker));
        puts[1] = ucp_put_nbx(ep, out, sizes[i], at(target, 0), target->key, &no_param);
        OK(finish(puts[0]));
        OK(finish(puts[1]));
        OK(finish(ucp_worker_flush_nbx(from->worker, &no_param)));
        check_filled(target->bytes, sizes[i], 2);
    }
}

/* Access by pointer, if the transport can map the memory. */
static void direct(const struct memory* target) {
    void* local = NULL;
    const ucs_status_t status = ucp_rkey_ptr(target->key, at(target, 8), &local);
    if (status != UCS_OK) return;
    target->bytes[8] = 77;
    CHECK(*(unsigned char*)local == 77, "other memory");
}

struct operation {
    ucp_atomic_op_t operation;
    uint64_t operand, swap, result;
};

/* OpenUCX 1.13 writes wrong results for fetching and, or, xor in shared memory. */
static bool works(ucp_atomic_op_t operation, bool fetch) {
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    const bool on_bits = operation == UCP_ATOMIC_OP_AND || operation == UCP_ATOMIC_OP_OR ||
                         operation == UCP_ATOMIC_OP_XOR;
    return minor > 13 || !fetch || !on_bits;
}

/* Each operation runs on 0x0ff0; the neighbouring numbers must not change. */
static void operations(ucp_ep_h ep, const struct memory* target, size_t size, bool fetch) {
    enum { posted = 4, all = 7 };
    const struct operation each[all] = {
        {UCP_ATOMIC_OP_ADD, 0x0310, 0, 0x1300},
        {UCP_ATOMIC_OP_AND, 0xff00, 0, 0x0f00},
        {UCP_ATOMIC_OP_OR, 0x700f, 0, 0x7fff},
        {UCP_ATOMIC_OP_XOR, 0x0230, 0, 0x0dc0},
        {UCP_ATOMIC_OP_SWAP, 0x7777, 0, 0x7777},
        {UCP_ATOMIC_OP_CSWAP, 0x0ff0, 0x1111, 0x1111},
        {UCP_ATOMIC_OP_CSWAP, 0x7777, 0x2222, 0x0ff0},
    };
    const uint64_t before = 0x0ff0, neighbour = 0x5a5a5a5a5a5a5a5a;
    memset(target->bytes, 0x5a, 64);
    for (size_t i = 0; i < (fetch ? all : posted); ++i) {
        uint64_t operand = each[i].operand, reply = each[i].swap, seen = 0;
        ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                     .datatype = ucp_dt_make_contig(size)};
        if (!works(each[i].operation, fetch)) continue;
        if (fetch) param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = &reply;
        memcpy(target->bytes + 16, &before, size);
        OK(finish(ucp_atomic_op_nbx(ep, each[i].operation, &operand, 1, at(target, 16), target->key,
                                    &param)));
        OK(finish(ucp_ep_flush_nbx(ep, &no_param)));
        CHECK(!fetch || reply == before, "operation %zu fetched %lx", i, (unsigned long)reply);
        memcpy(&seen, target->bytes + 16, size);
        CHECK(seen == each[i].result, "operation %zu left %lx", i, (unsigned long)seen);
        CHECK(memcmp(target->bytes + 16 - size, &neighbour, size) == 0,
              "the number before changed");
        CHECK(memcmp(target->bytes + 16 + size, &neighbour, size) == 0,
              "the number behind changed");
    }
}

/* Two endpoints add concurrently, and some additions fetch: each value must be fetched once. */
static void counting(const struct side* from, ucp_ep_h ep, ucp_ep_h second,
                     const struct memory* target) {
    enum { each = 100 };
    static uint64_t fetched[each], one = 1;
    ucs_status_ptr_t running[each];
    ucp_rkey_h key;
    bool given[2 * each] = {false};
    OK(ucp_ep_rkey_unpack(second, target->packed, &key));
    memset(target->bytes, 0, 64);
    for (size_t i = 0; i < each; ++i) {
        const ucs_status_t status =
            ucp_atomic_post(second, UCP_ATOMIC_POST_OP_ADD, 1, 8, at(target, 8), key);
        CHECK(status == UCS_OK || status == UCS_INPROGRESS, "%s", ucs_status_string(status));
        const ucp_request_param_t param = {
            .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
            .datatype = ucp_dt_make_contig(8),
            .reply_buffer = &fetched[i]};
        running[i] =
            ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, at(target, 8), target->key, &param);
    }
    for (size_t i = 0; i < each; ++i) {
        OK(finish(running[i]));
        CHECK(fetched[i] < 2 * each && !given[fetched[i]], "%lu", (unsigned long)fetched[i]);
        given[fetched[i]] = true;
    }
    OK(finish(ucp_worker_flush_nbx(from->worker, &no_param)));
    uint64_t sum;
    memcpy(&sum, target->bytes + 8, 8);
    CHECK(sum == 2 * each, "%lu were counted", (unsigned long)sum);
    ucp_rkey_destroy(key);
}

int main(void) {
    client_begin("rma");
    const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    const struct side from = side_new(features), to = side_new(features);
    const ucp_ep_h ep = ep_between(&from, &to), second = ep_between(&from, &to);
    static _Alignas(64) unsigned char own[extent];
    for (int kind = 0; kind < 2; ++kind) {
        const struct memory target = share(&to, ep, kind == 0 ? own : NULL, extent);
        for (unsigned i = 0; i < size_count; ++i) {
            transfer(ep, &target, sizes[i], 0);
            transfer(ep, &target, sizes[i], 13);
        }
        implicit(&from, ep, &target);
        fenced(&from, ep, &target);
        direct(&target);
        for (int fetch = 0; fetch < 2; ++fetch) {
            operations(ep, &target, 4, fetch);
            operations(ep, &target, 8, fetch);
        }
        counting(&from, ep, second, &target);
        unshare(&to, &target);
    }
    ep_close(ep);
    ep_close(second);
    return sides_end(&from, &to);
}
