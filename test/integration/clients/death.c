/* Death of a peer, with error handling. A child is killed in the middle of traffic. Pending
 * operations end, with an error if they needed the peer. The error callback comes once, later
 * operations are refused, and closing works. */
#include <signal.h>

#include "pair.h"

enum { most_sends = 64, waits = 7 };
static unsigned char out[largest], in[largest];

static struct {
    unsigned calls;
    ucp_ep_h ep;
    ucs_status_t status;
} error_calls;

static void on_error(void* arg, ucp_ep_h ep, ucs_status_t status) {
    CHECK(arg == &error_calls, "another argument");
    ++error_calls.calls;
    error_calls.ep = ep;
    error_calls.status = status;
}

static ucp_ep_h watched_ep(const struct side* from, const struct pair* between) {
    void* const address = pair_read_sized(between);
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .address = address,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler = {on_error, &error_calls}};
    ucp_ep_h made;
    OK(ucp_ep_create(from->worker, &params, &made));
    free(address);
    return made;
}

/* Replies to one message, reports that, and lives until it is killed. */
static void live(const struct side* side, const struct pair* between) {
    const ucp_ep_h back = watched_ep(side, between);
    OK(finish(ucp_tag_recv_nbx(side->worker, in, 8, 1, all_bits, &no_param)));
    OK(finish(ucp_tag_send_nbx(back, in, 8, 2, &no_param)));
    pair_meet(between);
    for (;;)
        progress();
}

static void kill_child(const struct pair* between) {
    int status;
    CHECK(kill(between->child, SIGKILL) == 0, "it is gone");
    CHECK(waitpid(between->child, &status, 0) == between->child && WIFSIGNALED(status),
          "the child ended by itself");
}

int main(void) {
    /* Before UCP is initialized: the transports with which both libraries notice a death. */
    setenv("UCX_TLS", "tcp,self", 0);
    const struct pair between = pair_new();
    client_begin("death");
    const struct side side = side_new(UCP_FEATURE_TAG | UCP_FEATURE_STREAM);
    pair_write_address(&between, &side);
    if (between.child == 0) live(&side, &between);

    const ucp_ep_h ep = watched_ep(&side, &between);
    OK(finish(ucp_tag_send_nbx(ep, out, 8, 1, &no_param)));
    OK(finish(ucp_tag_recv_nbx(side.worker, in, 8, 2, all_bits, &no_param)));
    pair_meet(&between);

    /* The peer receives none of these, so each waits for it. */
    ucs_status_ptr_t sync = ucp_tag_send_sync_nbx(ep, out, 8, waits, &no_param);
    ucs_status_ptr_t large = ucp_tag_send_nbx(ep, out, largest, waits, &no_param);
    size_t length;
    ucs_status_ptr_t stream = ucp_stream_recv_nbx(ep, in, 8, &length, &no_param);
    CHECK(UCS_PTR_IS_PTR(sync) && UCS_PTR_IS_PTR(stream), "ended without the peer");
    kill_child(&between);

    ucs_status_ptr_t sends[most_sends];
    unsigned count = 0;
    for (unsigned i = 0; error_calls.calls == 0; ++i) {
        /* Traffic, by which every transport notices the death. Small messages may still succeed. */
        if (i % 1000 == 0 && count < most_sends)
            sends[count++] = ucp_tag_send_nbx(ep, out, 8, waits, &no_param);
        progress();
    }
    CHECK(error_calls.ep == ep && error_calls.status != UCS_OK, "status %s",
          ucs_status_string(error_calls.status));
    const ucs_status_t sync_status = finish(sync), stream_status = finish(stream),
                       large_status = finish(large);
    CHECK(sync_status < 0 && stream_status < 0 && large_status < 0, "%s, %s, %s",
          ucs_status_string(sync_status), ucs_status_string(stream_status),
          ucs_status_string(large_status));
    for (unsigned i = 0; i < count; ++i)
        finish(sends[i]); /* each must end */
    const ucs_status_t late = finish(ucp_tag_send_nbx(ep, out, 8, waits, &no_param));
    CHECK(late < 0, "a send to the dead: %s", ucs_status_string(late));
    ep_close_now(ep);
    for (unsigned i = 0; i < 1000; ++i)
        progress();
    CHECK(error_calls.calls == 1, "%u error callbacks", error_calls.calls);
    side_free(&side);
    return client_end();
}
