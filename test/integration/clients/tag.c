/* Tagged messages: expected and unexpected, synchronous, probed, truncated, cancelled, of each
 * datatype, by the current and the old interface. */
#include "client.h"

enum { plain = 1, answered, other, cut, described };
static unsigned char out[largest], in[largest];

static void count_send(void* request, ucs_status_t status, void* count) {
    (void)request;
    OK(status);
    ++*(unsigned*)count;
}

struct received {
    unsigned calls;
    ucs_status_t status;
    ucp_tag_recv_info_t info;
};

static void note_receive(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                         void* note) {
    struct received* which = note;
    (void)request;
    ++which->calls;
    which->status = status;
    which->info = *info;
}

/* Sends with a tag of which the receiver knows only the lower half. */
static void by_callback(const struct side* to, ucp_ep_h ep, size_t length, bool expected) {
    const ucp_tag_t tag = (ucp_tag_t)length << 32 | plain;
    unsigned sent = 0;
    struct received got = {.calls = 0};
    const ucp_request_param_t sending = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = count_send,
        .user_data = &sent};
    const ucp_request_param_t receiving = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                           UCP_OP_ATTR_FIELD_USER_DATA |
                                                           UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                           .cb.recv = note_receive,
                                           .user_data = &got};
    ucs_status_ptr_t receive = NULL, send = NULL;
    fill(out, length, plain);
    memset(in, 0, length);
    for (int step = 0; step < 2; ++step) {
        if ((step == 0) == expected)
            receive = ucp_tag_recv_nbx(to->worker, in, length, plain, 0xffffffff, &receiving);
        else
            send = ucp_tag_send_nbx(ep, out, length, tag, &sending);
        for (int i = 0; i < 20; ++i)
            progress();
    }
    const unsigned later = UCS_PTR_IS_PTR(send) ? 1 : 0;
    OK(finish(receive));
    OK(finish(send));
    CHECK(sent == later, "the callback of the send came %u times", sent);
    CHECK(got.calls == 1 && got.status == UCS_OK, "%u calls", got.calls);
    CHECK(got.info.sender_tag == tag && got.info.length == length, "tag %lx length %zu",
          (unsigned long)got.info.sender_tag, got.info.length);
    check_filled(in, length, plain);
}

static void synchronous(const struct side* to, ucp_ep_h ep, size_t length) {
    fill(out, length, answered);
    ucs_status_ptr_t send = ucp_tag_send_sync_nbx(ep, out, length, answered, &no_param);
    CHECK(UCS_PTR_IS_PTR(send), "ended before it was received");
    for (int i = 0; i < 200; ++i)
        progress();
    STATUS(ucp_request_check_status(send), UCS_INPROGRESS);
    OK(finish(ucp_tag_recv_nbx(to->worker, in, length, answered, all_bits, &no_param)));
    OK(finish(send));
    check_filled(in, length, answered);
}

static void probed(const struct side* to, ucp_ep_h ep, size_t length) {
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    fill(out, length, other);
    ucs_status_ptr_t send = ucp_tag_send_nbx(ep, out, length, other, &no_param);
    while (ucp_tag_probe_nb(to->worker, other, all_bits, 0, &info) == NULL)
        progress();
    CHECK(info.length == length && info.sender_tag == other, "length %zu", info.length);
    message = ucp_tag_probe_nb(to->worker, other, all_bits, 1, &info);
    CHECK(message != NULL, "the message is gone");
    CHECK(ucp_tag_probe_nb(to->worker, other, all_bits, 0, &info) == NULL, "it is still there");
    OK(finish(ucp_tag_msg_recv_nbx(to->worker, in, length, message, &no_param)));
    OK(finish(send));
    check_filled(in, length, other);
}

static void cut_off(const struct side* to, ucp_ep_h ep, size_t length) {
    ucs_status_ptr_t send = ucp_tag_send_nbx(ep, out, length, cut, &no_param);
    in[length / 2] = 0x5a;
    STATUS(finish(ucp_tag_recv_nbx(to->worker, in, length / 2, cut, all_bits, &no_param)),
           UCS_ERR_MESSAGE_TRUNCATED);
    CHECK(in[length / 2] == 0x5a, "written behind the buffer");
    OK(finish(send));
}

static void cancelled(const struct side* to) {
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(to->worker, in, 8, 99, all_bits, &no_param);
    CHECK(UCS_PTR_IS_PTR(receive), "there is no message");
    ucp_request_cancel(to->worker, receive);
    STATUS(finish(receive), UCS_ERR_CANCELED);
}

/* Every second byte of a buffer, by a generic datatype. */
struct sieve {
    unsigned char* bytes;
    size_t count;
};

static void* sieve_start(void* context, void* buffer, size_t count) {
    struct sieve* made = malloc(sizeof(*made));
    CHECK(made != NULL && context == out, "another context");
    *made = (struct sieve){buffer, count};
    return made;
}

static void* sieve_start_pack(void* context, const void* buffer, size_t count) {
    return sieve_start(context, (void*)(uintptr_t)buffer, count);
}

static size_t sieve_size(void* state) {
    return ((struct sieve*)state)->count;
}

static size_t sieve_pack(void* state, size_t offset, void* into, size_t most) {
    const struct sieve* from = state;
    const size_t length = from->count - offset < most ? from->count - offset : most;
    for (size_t i = 0; i < length; ++i)
        ((unsigned char*)into)[i] = from->bytes[2 * (offset + i)];
    return length;
}

static ucs_status_t sieve_unpack(void* state, size_t offset, const void* from, size_t length) {
    const struct sieve* into = state;
    if (offset + length > into->count) return UCS_ERR_BUFFER_TOO_SMALL;
    for (size_t i = 0; i < length; ++i)
        into->bytes[2 * (offset + i)] = ((const unsigned char*)from)[i];
    return UCS_OK;
}

static const ucp_generic_dt_ops_t sieve_ops = {.start_pack = sieve_start_pack,
                                               .start_unpack = sieve_start,
                                               .packed_size = sieve_size,
                                               .pack = sieve_pack,
                                               .unpack = sieve_unpack,
                                               .finish = free};

/* From pieces into one buffer, and from every second byte to every second byte. */
static void datatypes(const struct side* to, ucp_ep_h ep, size_t length) {
    const ucp_dt_iov_t pieces[] = {{out, length / 3}, {out + length / 3, length - length / 3}};
    ucp_request_param_t typed = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype = ucp_dt_make_iov()};
    fill(out, length, described);
    ucs_status_ptr_t send = ucp_tag_send_nbx(ep, pieces, 2, described, &typed);
    OK(finish(ucp_tag_recv_nbx(to->worker, in, length, described, all_bits, &no_param)));
    OK(finish(send));
    check_filled(in, length, described);

    OK(ucp_dt_create_generic(&sieve_ops, out, &typed.datatype));
    memset(in, 0x5a, length);
    send = ucp_tag_send_nbx(ep, out, length / 2, described, &typed);
    OK(finish(ucp_tag_recv_nbx(to->worker, in, length / 2, described, all_bits, &typed)));
    OK(finish(send));
    size_t good = 0;
    while (good < length / 2 * 2 && in[good] == (good % 2 == 0 ? out[good] : 0x5a))
        ++good;
    CHECK(good == length / 2 * 2, "byte %zu is %x", good, in[good]);
    ucp_dt_destroy(typed.datatype);
}

static void ended(void* request, ucs_status_t status) {
    (void)request;
    OK(status);
}

/* With the datatype as an argument, and with the request in the program's memory. */
static void by_older_calls(const struct side* to, ucp_ep_h ep, size_t length) {
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    OK(ucp_context_query(to->context, &attr));
    char* memory = calloc(2, attr.request_size + 64);
    CHECK(memory != NULL, "no memory");
    char* request = memory + attr.request_size + (64 - attr.request_size % 64) % 64;
    fill(out, length, plain);
    memset(in, 0, length);
    const ucp_datatype_t bytes = ucp_dt_make_contig(1);
    OK(ucp_tag_recv_nbr(to->worker, in, length, bytes, plain, all_bits, request));
    ucs_status_ptr_t send = ucp_tag_send_nb(ep, out, length, bytes, plain, ended);
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        progress();
    OK(ucp_request_check_status(request));
    OK(finish(send));
    check_filled(in, length, plain);
    free(memory);
}

int main(void) {
    client_begin("tag");
    const struct side from = side_new(UCP_FEATURE_TAG), to = side_new(UCP_FEATURE_TAG);
    const ucp_ep_h ep = ep_between(&from, &to);
    for (unsigned i = 0; i < size_count; ++i) {
        by_callback(&to, ep, sizes[i], true);
        by_callback(&to, ep, sizes[i], false);
        synchronous(&to, ep, sizes[i]);
        probed(&to, ep, sizes[i]);
        datatypes(&to, ep, sizes[i]);
        by_older_calls(&to, ep, sizes[i]);
    }
    cut_off(&to, ep, 100);
    cut_off(&to, ep, largest);
    cancelled(&to);
    OK(finish(ucp_worker_flush_nbx(from.worker, &no_param)));
    ep_close(ep);
    return sides_end(&from, &to);
}
