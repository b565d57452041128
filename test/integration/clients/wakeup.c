/* Two processes that sleep whenever there is nothing to do, one in the library and one on its
 * descriptor, and signals that end the sleep. */
#include <pthread.h>

#include "pair.h"

enum {
    rounds = 30,
    tag = 1,
    sleep_limit = 30000 /* milliseconds; passes only where nobody wakes */
};
static const ucp_tag_t all_bits = ~(ucp_tag_t)0;
static unsigned char out[largest], in[largest];

/* Progress, and sleep when there was nothing to do. */
static void turn(const struct side* here, int descriptor) {
    if (ucp_worker_progress(here->worker) != 0) return;
    if (descriptor < 0) {
        OK(ucp_worker_wait(here->worker));
        return;
    }
    const ucs_status_t status = ucp_worker_arm(here->worker);
    if (status == UCS_ERR_BUSY) return;
    OK(status);
    struct pollfd event = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&event, 1, sleep_limit) == 1, "nobody woke");
}

static void end(const struct side* here, ucs_status_ptr_t started, int descriptor) {
    if (UCS_PTR_IS_PTR(started))
        while (ucp_request_check_status(started) == UCS_INPROGRESS)
            turn(here, descriptor);
    OK(finish(started));
}

static void play(const struct side* here, ucp_ep_h ep, bool begins, int descriptor) {
    for (unsigned round = 0; round < rounds; ++round) {
        const size_t length = sizes[round % size_count];
        ucs_status_ptr_t receive =
            ucp_tag_recv_nbx(here->worker, in, length, tag, all_bits, &no_param);
        fill(out, length, round);
        if (!begins) end(here, receive, descriptor);
        end(here, ucp_tag_send_nbx(ep, out, length, tag, &no_param), descriptor);
        if (begins) end(here, receive, descriptor);
        check_filled(in, length, round);
    }
}

static void* signal_it(void* worker) {
    const ucs_status_t status = ucp_worker_signal(worker);
    return (void*)(intptr_t)status;
}

/* Another thread wakes who waits in the library, and who waits on the descriptor. */
static void signals(const struct side* here, int descriptor) {
    for (unsigned round = 0; round < rounds; ++round) {
        pthread_t other;
        void* status;
        while (ucp_worker_progress(here->worker) != 0) {
        }
        CHECK(pthread_create(&other, NULL, signal_it, here->worker) == 0, "no thread");
        turn(here, round % 2 == 0 ? -1 : descriptor);
        CHECK(pthread_join(other, &status) == 0 && status == NULL, "the signal failed");
    }
}

/* Worker addresses go through the pipes. */
static ucp_ep_h connect_to(const struct pair* between, const struct side* here) {
    ucp_address_t* address;
    size_t length, length_there;
    OK(ucp_worker_get_address(here->worker, &address, &length));
    pair_write(between, &length, sizeof(length));
    pair_write(between, address, length);
    ucp_worker_release_address(here->worker, address);
    pair_read(between, &length_there, sizeof(length_there));
    void* there = malloc(length_there);
    CHECK(there != NULL, "no memory");
    pair_read(between, there, length_there);
    const ucp_ep_h made = ep_new(here, there);
    free(there);
    return made;
}

int main(void) {
    int descriptor;
    client_name = "wakeup";
    const struct pair between = pair_new();
    const bool begins = between.child != 0;
    client_begin(begins ? "waker" : "sleeper");
    const struct side here = side_new(UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP);
    OK(ucp_worker_get_efd(here.worker, &descriptor));
    signals(&here, descriptor);
    const ucp_ep_h ep = connect_to(&between, &here);
    play(&here, ep, begins, begins ? -1 : descriptor);
    play(&here, ep, !begins, begins ? -1 : descriptor);
    pair_meet(&between);
    ep_close(ep);
    pair_meet(&between);
    side_free(&here);
    return pair_end(&between);
}
