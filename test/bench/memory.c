/* Measures resident memory by slope: the VmRSS that is added by one worker, by one idle endpoint
 * to a common peer, by one to a peer of its own, and by one endpoint that has carried a message.
 * memory WORKERS ENDPOINTS */
#include "bench.h"

static void exchange(ucp_ep_h ep, ucp_worker_h from, ucp_worker_h to) {
    uint64_t out = 1, in = 0;
    void* received = tag_recv(to, &in, sizeof(in), 1);
    void* sent = tag_send(ep, &out, sizeof(out), 1);
    finish(received, to, from);
    finish(sent, from, to);
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: memory WORKERS ENDPOINTS\n");
        return 2;
    }
    enum { first_workers = 2 };
    const size_t workers = strtoull(argv[1], NULL, 10), endpoints = strtoull(argv[2], NULL, 10);
    ucp_context_h context = context_new();
    ucp_worker_h* all = calloc(workers + first_workers, sizeof(*all));
    ucp_address_t** addresses = calloc(workers + first_workers, sizeof(*addresses));
    size_t length;
    for (size_t i = 0; i < first_workers; ++i)
        all[i] = worker_new(context);
    double before = resident_kb();
    for (size_t i = first_workers; i < workers + first_workers; ++i)
        all[i] = worker_new(context);
    const double per_worker = (resident_kb() - before) / (double)workers;

    for (size_t i = 0; i < workers + first_workers; ++i)
        must_be_ok(ucp_worker_get_address(all[i], &addresses[i], &length),
                   "ucp_worker_get_address");
    ep_to_address(all[0], addresses[1]);
    before = resident_kb();
    for (size_t i = 0; i < endpoints; ++i)
        ep_to_address(all[0], addresses[1]);
    const double per_ep_same = (resident_kb() - before) / (double)endpoints;

    ucp_ep_h* eps = calloc(workers, sizeof(*eps));
    before = resident_kb();
    for (size_t i = 0; i < workers; ++i)
        eps[i] = ep_to_address(all[0], addresses[first_workers + i]);
    const double per_ep_own = (resident_kb() - before) / (double)workers;

    before = resident_kb();
    for (size_t i = 0; i < workers; ++i)
        exchange(eps[i], all[0], all[first_workers + i]);
    const double per_ep_used = (resident_kb() - before) / (double)workers;
    printf(
        "{\"worker_kb\": %.1f, \"ep_same_kb\": %.3f, \"ep_own_kb\": %.3f, \"ep_used_kb\": %.1f}\n",
        per_worker, per_ep_same, per_ep_own, per_ep_used);
    fflush(stdout);
    _Exit(0);
}
