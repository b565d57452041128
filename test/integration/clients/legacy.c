/* Functions that newer ones replaced: with datatype and callback as arguments, and blocking
 * functions. */
#include "memory.h"

static unsigned char out[largest], in[largest];
static unsigned sent, received, taken_count;
static size_t received_length;
static unsigned char taken[largest];

static void on_send(void* request, ucs_status_t status) {
    (void)request;
    OK(status);
    ++sent;
}

static void on_receive(void* request, ucs_status_t status, ucp_tag_recv_info_t* info) {
    (void)request;
    OK(status);
    ++received;
    received_length = info->length;
}

static void on_stream(void* request, ucs_status_t status, size_t length) {
    (void)request;
    OK(status);
    ++received;
    received_length = length;
}

static ucs_status_t on_message(void* arg, void* data, size_t length, ucp_ep_h reply,
                               unsigned flags) {
    (void)reply;
    (void)flags;
    CHECK(arg == taken, "another argument");
    CHECK(length <= largest, "%zu bytes", length);
    memcpy(taken, data, length);
    received_length = length;
    ++taken_count;
    return UCS_OK;
}

/* Ends a send of the old interface. Its callback must have come if and only if there was a
 * request. */
static void finish_send(ucs_status_ptr_t send) {
    const unsigned before = sent, wanted = UCS_PTR_IS_PTR(send) ? 1 : 0;
    ucs_status_t status = UCS_PTR_STATUS(send);
    if (wanted == 1) {
        while (ucp_request_is_completed(send) == 0)
            progress();
        status = ucp_request_check_status(send);
        ucp_request_release(send);
    }
    OK(status);
    CHECK(sent - before <= wanted, "%u callbacks", sent - before);
}

static void tagged(const struct side* to, ucp_ep_h ep, size_t length) {
    const ucp_datatype_t bytes = ucp_dt_make_contig(1);
    ucp_tag_recv_info_t info;
    for (int variant = 0; variant < 3; ++variant) {
        const unsigned sent_before = sent, received_before = received;
        ucs_status_ptr_t receive = NULL;
        fill(out, length, (unsigned)variant);
        memset(in, 0, length);
        if (variant == 0) {
            receive = ucp_tag_recv_nb(to->worker, in, length, bytes, 5, all_bits, on_receive);
            CHECK(UCS_PTR_IS_PTR(receive), "there is no message");
            STATUS(ucp_request_test(receive, &info), UCS_INPROGRESS);
        }
        ucs_status_ptr_t send = variant == 1
                                    ? ucp_tag_send_sync_nb(ep, out, length, bytes, 5, on_send)
                                    : ucp_tag_send_nb(ep, out, length, bytes, 5, on_send);
        const unsigned later = UCS_PTR_IS_PTR(send) ? 1 : 0;
        if (variant == 1)
            receive = ucp_tag_recv_nb(to->worker, in, length, bytes, 5, all_bits, on_receive);
        if (variant == 2) {
            ucp_tag_message_h message;
            while ((message = ucp_tag_probe_nb(to->worker, 5, all_bits, 1, &info)) == NULL)
                progress();
            receive = ucp_tag_msg_recv_nb(to->worker, in, info.length, bytes, message, on_receive);
        }
        CHECK(UCS_PTR_IS_PTR(receive), "a receive of old always has a request");
        while (ucp_request_test(receive, &info) == UCS_INPROGRESS)
            progress();
        OK(ucp_request_test(receive, &info));
        CHECK(info.length == length && info.sender_tag == 5, "%zu bytes", info.length);
        CHECK(received == received_before + 1 && received_length == length, "%u callbacks",
              received - received_before);
        ucp_request_release(receive);
        finish_send(send);
        CHECK(sent - sent_before == later, "%u callbacks of a send", sent - sent_before);
        check_filled(in, length, (unsigned)variant);
    }
}

static void active(ucp_ep_h ep, size_t length) {
    const unsigned before = taken_count;
    fill(out, length, 3);
    ucs_status_ptr_t send = ucp_am_send_nb(ep, 9, out, length, ucp_dt_make_contig(1), on_send, 0);
    while (taken_count == before)
        progress();
    finish_send(send);
    CHECK(taken_count == before + 1 && received_length == length, "%zu bytes", received_length);
    check_filled(taken, length, 3);
}

static void streamed(ucp_ep_h from, ucp_ep_h to, size_t length) {
    const ucp_datatype_t bytes = ucp_dt_make_contig(1);
    if (length == 0) return;
    fill(out, length, 4);
    memset(in, 0, length);
    const unsigned before = received;
    size_t got = 0;
    ucs_status_ptr_t receive =
        ucp_stream_recv_nb(to, in, length, bytes, on_stream, &got, UCP_STREAM_RECV_FLAG_WAITALL);
    CHECK(UCS_PTR_IS_PTR(receive), "there is nothing to read");
    ucs_status_ptr_t send = ucp_stream_send_nb(from, out, length, bytes, on_send, 0);
    while (received == before)
        progress();
    OK(ucp_stream_recv_request_test(receive, &got));
    CHECK(got == length && received_length == length, "%zu bytes", got);
    ucp_request_release(receive);
    finish_send(send);
    check_filled(in, length, 4);
}

static void remote(const struct side* from, ucp_ep_h ep, const struct memory* target,
                   size_t length) {
    const uint64_t place = (uint64_t)(uintptr_t)target->bytes;
    fill(out, length, 6);
    memset(in, 0, length);
    memset(target->bytes, 0, length);
    finish_send(ucp_put_nb(ep, out, length, place, target->key, on_send));
    finish_send(ucp_ep_flush_nb(ep, 0, on_send));
    check_filled(target->bytes, length, 6);
    finish_send(ucp_get_nb(ep, in, length, place, target->key, on_send));
    finish_send(ucp_worker_flush_nb(from->worker, 0, on_send));
    check_filled(in, length, 6);
}

static void counted(const struct side* from, ucp_ep_h ep, const struct memory* target) {
    const uint64_t place = (uint64_t)(uintptr_t)target->bytes;
    volatile uint64_t* const wide = (volatile uint64_t*)(void*)target->bytes;
    volatile uint32_t* const narrow = (volatile uint32_t*)(void*)(target->bytes + 8);
    uint64_t before = 0;
    uint32_t narrow_before = 0;
    *wide = 5;
    *narrow = 1;
    OK(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_ADD, 7, 8, place, target->key));
    OK(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_OR, 6, 4, place + 8, target->key));
    finish_send(ucp_worker_flush_nb(from->worker, 0, on_send));
    CHECK(*wide == 12 && *narrow == 7, "%lu %u", (unsigned long)*wide, *narrow);
    finish_send(ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_FADD, 3, &before, 8, place, target->key,
                                    on_send));
    CHECK(before == 12 && *wide == 15, "%lu", (unsigned long)before);
    narrow_before = 9; /* the swap replaces 7 by 9 */
    finish_send(ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_CSWAP, 7, &narrow_before, 4, place + 8,
                                    target->key, on_send));
    CHECK(narrow_before == 7 && *narrow == 9, "%u", narrow_before);
}

/* To itself: blocking functions make progress on their own worker only. */
static void blocking(const struct side* self, ucp_ep_h ep, const struct memory* target) {
    const uint64_t place = (uint64_t)(uintptr_t)target->bytes;
    volatile uint64_t* const wide = (volatile uint64_t*)(void*)target->bytes;
    volatile uint32_t* const narrow = (volatile uint32_t*)(void*)target->bytes;
    uint64_t before = 0;
    uint32_t narrow_before = 0;
    fill(out, largest, 7);
    memset(in, 0, largest);
    OK(ucp_put(ep, out, largest, place, target->key));
    OK(ucp_worker_flush(self->worker));
    check_filled(target->bytes, largest, 7);
    OK(ucp_get(ep, in, largest, place, target->key));
    check_filled(in, largest, 7);

    *wide = 1;
    OK(ucp_atomic_add64(ep, 2, place, target->key));
    OK(ucp_worker_flush(self->worker));
    OK(ucp_atomic_fadd64(ep, 3, place, target->key, &before));
    CHECK(before == 3 && *wide == 6, "%lu", (unsigned long)before);
    OK(ucp_atomic_swap64(ep, 10, place, target->key, &before));
    CHECK(before == 6 && *wide == 10, "%lu", (unsigned long)before);
    OK(ucp_atomic_cswap64(ep, 10, 11, place, target->key, &before));
    CHECK(before == 10 && *wide == 11, "%lu", (unsigned long)before);
    *wide = 0;
    *narrow = 1;
    OK(ucp_atomic_add32(ep, 2, place, target->key));
    OK(ucp_worker_flush(self->worker));
    OK(ucp_atomic_fadd32(ep, 3, place, target->key, &narrow_before));
    CHECK(narrow_before == 3 && *narrow == 6, "%u", narrow_before);
    OK(ucp_atomic_swap32(ep, 10, place, target->key, &narrow_before));
    CHECK(narrow_before == 6 && *narrow == 10, "%u", narrow_before);
    OK(ucp_atomic_cswap32(ep, 9, 11, place, target->key, &narrow_before));
    CHECK(narrow_before == 10 && *narrow == 10, "%u", narrow_before);
    OK(ucp_ep_flush(ep));
}

int main(void) {
    client_begin("legacy");
    const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                              UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    const struct side from = side_new(features), to = side_new(features);
    const ucp_ep_h ep = ep_between(&from, &to), back = ep_between(&to, &from);
    static _Alignas(64) unsigned char shared[largest];
    OK(ucp_worker_set_am_handler(to.worker, 9, on_message, taken, UCP_AM_FLAG_WHOLE_MSG));
    const struct memory target = share(&to, ep, shared, largest);
    for (unsigned i = 0; i < size_count; ++i) {
        tagged(&to, ep, sizes[i]);
        active(ep, sizes[i]);
        streamed(ep, back, sizes[i]);
        remote(&from, ep, &target, sizes[i]);
    }
    counted(&from, ep, &target);
    unshare(&to, &target);

    const ucp_ep_h self = ep_between(&from, &from);
    const struct memory own = share(&from, self, shared, largest);
    blocking(&from, self, &own);
    unshare(&from, &own);
    ucp_ep_destroy(self);

    OK(finish(ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)));
    OK(finish(ucp_disconnect_nb(back)));
    return sides_end(&from, &to);
}
