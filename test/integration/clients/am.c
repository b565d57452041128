/* Active messages: short and long, with headers, replies, and data that is kept and received
 * later. */
#include "client.h"

enum { id_copied = 3, id_kept = 4, most_header = 64 };
static unsigned char out[largest], in[largest];

/* The last message that arrived. */
static struct {
    unsigned calls;
    unsigned char header[most_header];
    size_t header_length, length;
    uint64_t attributes;
    void* data; /* kept; NULL: it was copied to `in` */
    ucp_ep_h reply;
} last;

/* Copies the data, unless it is kept or still at the sender. */
static ucs_status_t came(void* keeps, const void* header, size_t header_length, void* data,
                         size_t length, const ucp_am_recv_param_t* param) {
    const uint64_t may_keep = UCP_AM_RECV_ATTR_FLAG_DATA | UCP_AM_RECV_ATTR_FLAG_RNDV;
    CHECK(header_length <= most_header && length <= largest, "%zu, %zu", header_length, length);
    ++last.calls;
    if (header_length > 0) memcpy(last.header, header, header_length);
    last.header_length = header_length;
    last.length = length;
    last.attributes = param->recv_attr;
    last.reply = param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP ? param->reply_ep : NULL;
    last.data = NULL;
    if (keeps != NULL) CHECK(param->recv_attr & may_keep, "it must not be kept");
    if (param->recv_attr & may_keep) {
        last.data = data;
        return UCS_INPROGRESS;
    }
    if (length > 0) memcpy(in, data, length);
    return UCS_OK;
}

static void listen_for(const struct side* which, unsigned id, uint32_t flags, void* argument) {
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = id,
        .flags = flags,
        .cb = came,
        .arg = argument};
    OK(ucp_worker_set_am_recv_handler(which->worker, &handler));
}

/* Waits for the next message and receives its data into `in`. */
static void take(const struct side* which, unsigned calls) {
    while (last.calls == calls)
        progress();
    CHECK(last.calls == calls + 1, "%u messages", last.calls - calls);
    if (last.data == NULL) return;
    for (int i = 0; i < 20; ++i) /* the data stays as long as it is kept */
        progress();
    if (last.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        OK(finish(ucp_am_recv_data_nbx(which->worker, last.data, in, last.length, &no_param)));
    } else {
        memcpy(in, last.data, last.length);
        ucp_am_data_release(which->worker, last.data);
    }
}

static void send_one(const struct side* to, ucp_ep_h ep, unsigned id, size_t header, size_t length,
                     uint32_t flags) {
    unsigned char head[most_header];
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};
    const unsigned seed = (unsigned)(length + header + id), calls = last.calls;
    fill(out, length, seed);
    fill(head, sizeof(head), seed + 1); /* the bytes behind the header, too */
    memset(in, 0, length);
    ucs_status_ptr_t send = ucp_am_send_nbx(ep, id, head, header, out, length, &param);
    take(to, calls);
    OK(finish(send));
    CHECK(last.header_length == header && last.length == length, "%zu and %zu", last.header_length,
          last.length);
    check_filled(last.header, header, seed + 1);
    check_filled(in, length, seed);
    CHECK((last.reply != NULL) == ((flags & UCP_AM_SEND_FLAG_REPLY) != 0), "the reply endpoint");
    if (flags & UCP_AM_SEND_FLAG_RNDV)
        CHECK(last.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV, "it was not sent by rendezvous");
    if (flags & UCP_AM_SEND_FLAG_EAGER)
        CHECK(!(last.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV), "it was not sent at once");
}

/* The receiver replies on the reply endpoint of the request. */
static void answers(const struct side* asks, const struct side* asked, ucp_ep_h ep) {
    for (unsigned i = 0; i < size_count; ++i) {
        send_one(asked, ep, id_copied, 8, sizes[i], UCP_AM_SEND_FLAG_REPLY);
        send_one(asks, last.reply, id_copied, 16, sizes[i], 0);
    }
}

/* An iov that the sender gathers. */
static void gathered(const struct side* to, ucp_ep_h ep, size_t length) {
    const ucp_dt_iov_t pieces[] = {{out, length / 3}, {out + length / 3, length - length / 3}};
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                       .datatype = ucp_dt_make_iov()};
    const unsigned calls = last.calls;
    fill(out, length, 9);
    memset(in, 0, length);
    ucs_status_ptr_t send = ucp_am_send_nbx(ep, id_copied, NULL, 0, pieces, 2, &param);
    take(to, calls);
    OK(finish(send));
    CHECK(last.length == length && last.header_length == 0, "%zu", last.length);
    check_filled(in, length, 9);
}

int main(void) {
    client_begin("am");
    const struct side from = side_new(UCP_FEATURE_AM), to = side_new(UCP_FEATURE_AM);
    listen_for(&to, id_copied, 0, NULL);
    listen_for(&to, id_kept, UCP_AM_FLAG_PERSISTENT_DATA, in);
    listen_for(&from, id_copied, 0, NULL);
    const ucp_ep_h ep = ep_between(&from, &to);
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER};
    OK(ucp_worker_query(to.worker, &attr));
    CHECK(attr.max_am_header >= most_header, "headers of %zu bytes", attr.max_am_header);
    for (unsigned i = 0; i < size_count; ++i) {
        for (size_t header = 0; header <= most_header; header += 32) {
            send_one(&to, ep, id_copied, header, sizes[i], 0);
            send_one(&to, ep, id_copied, header, sizes[i], UCP_AM_SEND_FLAG_EAGER);
            if (sizes[i] == 0) continue;
            send_one(&to, ep, id_kept, header, sizes[i], 0);
            send_one(&to, ep, id_copied, header, sizes[i], UCP_AM_SEND_FLAG_RNDV);
        }
        gathered(&to, ep, sizes[i]);
    }
    answers(&from, &to, ep);
    ep_close(ep);
    return sides_end(&from, &to);
}
