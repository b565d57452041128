/* Measures the time to make an endpoint: the call alone, and the time until a first message has
 * arrived, which includes the work that the call defers. Each endpoint has a peer of its own.
 * endpoints COUNT */
#include "bench.h"

int main(int argc, char** argv) {
    const size_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: endpoints COUNT\n");
        return 2;
    }
    ucp_context_h context = context_new();
    ucp_worker_h from = worker_new(context);
    double* made = calloc(count, sizeof(*made));
    double* used = calloc(count, sizeof(*used));
    for (size_t i = 0; i < count; ++i) {
        ucp_worker_h to = worker_new(context);
        ucp_address_t* address;
        size_t length;
        must_be_ok(ucp_worker_get_address(to, &address, &length), "ucp_worker_get_address");
        const double start = now_us();
        ucp_ep_h ep = ep_to_address(from, address);
        made[i] = now_us() - start;
        ucp_worker_release_address(to, address);
        uint64_t out = 1, in = 0;
        void* received = tag_recv(to, &in, sizeof(in), 1);
        void* sent = tag_send(ep, &out, sizeof(out), 1);
        finish(received, to, from);
        used[i] = now_us() - start;
        finish(sent, from, to);
    }
    printf("{");
    print_percentiles("made", made, count);
    printf(", ");
    print_percentiles("used", used, count);
    printf("}\n");
    fflush(stdout);
    _Exit(0);
}
