/* Streams: pieces of any length are sent and pieces of any other length are received, in order
 * and in both directions. */
#include "client.h"

static unsigned char out[largest], in[largest];

struct received {
    unsigned calls;
    size_t length;
};

static void note(void* request, ucs_status_t status, size_t length, void* which) {
    (void)request;
    OK(status);
    ++((struct received*)which)->calls;
    ((struct received*)which)->length = length;
}

/* Reads the next bytes, at least one and at most `most`; exactly `most` if `complete`. */
static size_t read_some(ucp_ep_h ep, unsigned char* into, size_t most, bool complete) {
    struct received got = {0, 0};
    size_t length = 0;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_stream = note,
        .user_data = &got};
    if (complete) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    }
    ucs_status_ptr_t receive = ucp_stream_recv_nbx(ep, into, most, &length, &param);
    const bool later = UCS_PTR_IS_PTR(receive);
    OK(finish(receive));
    CHECK(got.calls == (later ? 1 : 0), "%u calls", got.calls);
    if (later) length = got.length;
    CHECK(length > 0 && length <= most && (!complete || length == most), "%zu of %zu bytes", length,
          most);
    return length;
}

/* Writes `total` bytes in pieces of one length and reads them in pieces of another. */
static void flow(ucp_ep_h from, ucp_ep_h to, size_t total, size_t written, size_t read,
                 bool complete) {
    enum { most_sends = 64 };
    ucs_status_ptr_t sends[most_sends];
    const unsigned seed = (unsigned)(written + read);
    size_t count = 0, done = 0;
    fill(out, total, seed);
    memset(in, 0, total);
    for (size_t offset = 0; offset < total; offset += written) {
        const size_t length = total - offset < written ? total - offset : written;
        CHECK(count < most_sends, "too many pieces");
        sends[count++] = ucp_stream_send_nbx(from, out + offset, length, &no_param);
    }
    while (done < total)
        done += read_some(to, in + done, total - done < read ? total - done : read, complete);
    check_filled(in, total, seed);
    for (size_t i = 0; i < count; ++i)
        OK(finish(sends[i]));
}

/* The library reports which endpoint has data, and returns its own buffers. */
static void handed_out(const struct side* reader, ucp_ep_h from, ucp_ep_h to, size_t total) {
    ucp_stream_poll_ep_t ready[4];
    size_t done = 0, length = 0;
    fill(out, total, 3);
    memset(in, 0, total);
    ucs_status_ptr_t send = ucp_stream_send_nbx(from, out, total, &no_param);
    while (done < total) {
        const ssize_t count = ucp_stream_worker_poll(reader->worker, ready, 4, 0);
        CHECK(count >= 0 && count <= 1, "%zd endpoints are ready", count);
        if (count == 0) {
            progress();
            continue;
        }
        CHECK(ready[0].ep == to, "another endpoint");
        for (void* data; (data = ucp_stream_recv_data_nb(to, &length)) != NULL; done += length) {
            OK(UCS_PTR_STATUS(data) == UCS_INPROGRESS ? UCS_OK : UCS_PTR_STATUS(data));
            CHECK(length > 0 && done + length <= total, "%zu bytes", length);
            memcpy(in + done, data, length);
            ucp_stream_data_release(to, data);
        }
    }
    check_filled(in, total, 3);
    OK(finish(send));
    CHECK(ucp_stream_worker_poll(reader->worker, ready, 4, 0) == 0, "there is more");
}

/* A pending receive gets later data. */
static void waiting(ucp_ep_h from, ucp_ep_h to) {
    struct received got = {0, 0};
    size_t length = 0;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_stream = note,
        .user_data = &got};
    ucs_status_ptr_t receive = ucp_stream_recv_nbx(to, in, 100, &length, &param);
    CHECK(UCS_PTR_IS_PTR(receive), "nothing was sent yet");
    fill(out, 100, 8);
    OK(finish(ucp_stream_send_nbx(from, out, 100, &no_param)));
    OK(finish(receive));
    CHECK(got.calls == 1 && got.length == 100, "%u calls, %zu bytes", got.calls, got.length);
    check_filled(in, 100, 8);
}

int main(void) {
    client_begin("stream");
    const struct side one = side_new(UCP_FEATURE_STREAM), two = side_new(UCP_FEATURE_STREAM);
    const ucp_ep_h ep_back = ep_between(&one, &two), back = ep_between(&two, &one);
    OK(finish(ucp_ep_flush_nbx(ep_back, &no_param)));
    OK(finish(ucp_ep_flush_nbx(back, &no_param)));
    for (int direction = 0; direction < 2; ++direction) {
        const ucp_ep_h from = direction == 0 ? ep_back : back, to = direction == 0 ? back : ep_back;
        waiting(from, to);
        for (int complete = 0; complete < 2; ++complete) {
            flow(from, to, 1, 1, 1, complete);
            flow(from, to, 100, 7, 13, complete);
            flow(from, to, 5000, 100, 4999, complete);
            flow(from, to, 100000, 8193, 333, complete);
            flow(from, to, largest, 100000, 70000, complete);
            flow(from, to, largest, largest, largest, complete);
        }
        handed_out(direction == 0 ? &two : &one, from, to, 100);
        handed_out(direction == 0 ? &two : &one, from, to, largest);
    }
    ep_close(ep_back);
    ep_close(back);
    return sides_end(&one, &two);
}
