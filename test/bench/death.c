/* Measures how long a process takes to notice that its peer was killed: from SIGKILL to the
 * error callback of an endpoint in mode PEER that has a pending receive.
 *
 *   death COUNT */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bench.h"

static void must_move(ssize_t moved, size_t length) {
    if (moved == (ssize_t)length) return;
    perror("socket");
    exit(1);
}

static void send_bytes(int to, const void* bytes, size_t length) {
    must_move(write(to, bytes, length), length);
}

static void recv_bytes(int from, void* bytes, size_t length) {
    must_move(recv(from, bytes, length, MSG_WAITALL), length);
}

static void note_death(void* arg, ucp_ep_h ep, ucs_status_t status) {
    (void)ep;
    *(volatile ucs_status_t*)arg = status;
}

struct side {
    ucp_worker_h worker;
    ucp_ep_h ep;
    volatile ucs_status_t status;
};

static void connect_sides(struct side* side, int link) {
    side->worker = worker_new(context_new());
    ucp_address_t* own;
    size_t length;
    must_be_ok(ucp_worker_get_address(side->worker, &own, &length), "ucp_worker_get_address");
    send_bytes(link, &length, sizeof(length));
    send_bytes(link, own, length);
    ucp_worker_release_address(side->worker, own);
    recv_bytes(link, &length, sizeof(length));
    void* peer_address = malloc(length);
    must(peer_address != NULL, "malloc", UCS_ERR_NO_MEMORY);
    recv_bytes(link, peer_address, length);
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .address = peer_address,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler = {.cb = note_death, .arg = (void*)&side->status}};
    must_be_ok(ucp_ep_create(side->worker, &params, &side->ep), "ucp_ep_create");
    free(peer_address);
}

static void exchange(struct side* side) {
    uint64_t out = 1, in = 0;
    void* received = tag_recv(side->worker, &in, sizeof(in), 1);
    finish(tag_send(side->ep, &out, sizeof(out), 1), side->worker, side->worker);
    finish(received, side->worker, side->worker);
}

/* Replies to each message until it is killed. */
static void live(int link) {
    struct side side = {.status = UCS_OK};
    connect_sides(&side, link);
    while (1)
        exchange(&side);
}

static double survive(int link, pid_t victim) {
    struct side side = {.status = UCS_OK};
    connect_sides(&side, link);
    for (int i = 0; i < 100; ++i)
        exchange(&side);
    uint64_t in;
    tag_recv(side.worker, &in, sizeof(in), 1);
    const double killed = now_us();
    kill(victim, SIGKILL);
    while (side.status == UCS_OK)
        ucp_worker_progress(side.worker);
    return now_us() - killed;
}

/* Both processes are new, so neither has initialized the library. */
static double one_death(void) {
    int link[2];
    double took = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, link) != 0) {
        perror("socketpair");
        exit(1);
    }
    const pid_t survivor = fork();
    if (survivor == 0) {
        int pair[2];
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair", UCS_ERR_IO_ERROR);
        const pid_t victim = fork();
        if (victim == 0) live(pair[0]);
        const double result = survive(pair[1], victim);
        send_bytes(link[1], &result, sizeof(result));
        waitpid(victim, NULL, 0);
        _Exit(0);
    }
    close(link[1]);
    recv_bytes(link[0], &took, sizeof(took));
    close(link[0]);
    waitpid(survivor, NULL, 0);
    return took;
}

int main(int argc, char** argv) {
    const size_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: death COUNT\n");
        return 2;
    }
    double* times = calloc(count, sizeof(*times));
    for (size_t i = 0; i < count; ++i)
        times[i] = one_death();
    printf("{");
    print_percentiles("us", times, count);
    printf("}\n");
    return 0;
}
