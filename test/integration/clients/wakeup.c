/* Tests that a message or a signal wakes a process that sleeps. One process sleeps in
 * ucp_worker_wait, its peer in poll() on the event descriptor of its worker. */
#include <pthread.h>

#include "pair.h"

enum {
    rounds = 30,
    tag = 1,
    sleep_limit = 30000 /* milliseconds; expires only if no wakeup comes */
};
static unsigned char out[largest], in[largest];

/* Makes progress, and sleeps if there was nothing to do: in poll() on the descriptor, or in
 * ucp_worker_wait if the descriptor is -1. */
static void turn(const struct side* side, int descriptor) {
    if (ucp_worker_progress(side->worker) != 0) return;
    if (descriptor < 0) {
        OK(ucp_worker_wait(side->worker));
        return;
    }
    const ucs_status_t status = ucp_worker_arm(side->worker);
    if (status == UCS_ERR_BUSY) return;
    OK(status);
    struct pollfd event = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&event, 1, sleep_limit) == 1, "no wakeup came");
}

static void end(const struct side* side, ucs_status_ptr_t started, int descriptor) {
    if (UCS_PTR_IS_PTR(started))
        while (ucp_request_check_status(started) == UCS_INPROGRESS)
            turn(side, descriptor);
    OK(finish(started));
}

/* Exchanges messages of all sizes. The process that begins sends first. */
static void play(const struct side* side, ucp_ep_h ep, bool begins, int descriptor) {
    for (unsigned round = 0; round < rounds; ++round) {
        const size_t length = sizes[round % size_count];
        ucs_status_ptr_t receive =
            ucp_tag_recv_nbx(side->worker, in, length, tag, all_bits, &no_param);
        fill(out, length, round);
        if (!begins) end(side, receive, descriptor);
        end(side, ucp_tag_send_nbx(ep, out, length, tag, &no_param), descriptor);
        if (begins) end(side, receive, descriptor);
        check_filled(in, length, round);
    }
}

static void* signal_it(void* worker) {
    const ucs_status_t status = ucp_worker_signal(worker);
    return (void*)(intptr_t)status;
}

/* A second thread signals the worker while this thread sleeps, in turn in the library and on the
 * descriptor. */
static void signals(const struct side* side, int descriptor) {
    for (unsigned round = 0; round < rounds; ++round) {
        pthread_t other;
        void* status;
        while (ucp_worker_progress(side->worker) != 0) {
        }
        CHECK(pthread_create(&other, NULL, signal_it, side->worker) == 0, "no thread");
        turn(side, round % 2 == 0 ? -1 : descriptor);
        CHECK(pthread_join(other, &status) == 0 && status == NULL, "the signal failed");
    }
}

/* Exchanges worker addresses through the pipes, and makes an endpoint to the other process. */
static ucp_ep_h connect_to(const struct pair* between, const struct side* side) {
    pair_write_address(between, side);
    void* const peer_address = pair_read_sized(between);
    const ucp_ep_h made = ep_new(side, peer_address);
    free(peer_address);
    return made;
}

int main(void) {
    int descriptor;
    client_name = "wakeup";
    const struct pair between = pair_new();
    const bool begins = between.child != 0;
    client_begin(begins ? "waker" : "sleeper");
    const struct side side = side_new(UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP);
    OK(ucp_worker_get_efd(side.worker, &descriptor));
    signals(&side, descriptor);
    const ucp_ep_h ep = connect_to(&between, &side);
    play(&side, ep, begins, begins ? -1 : descriptor);
    play(&side, ep, !begins, begins ? -1 : descriptor);
    pair_meet(&between);
    ep_close(ep);
    pair_meet(&between);
    side_free(&side);
    return pair_end(&between);
}
