/* Measures the resident memory that idle endpoints add to a process. Each endpoint has a peer of
 * its own in another process. idle_endpoints COUNT PROCESSES */
#include <sys/resource.h>

#include "bench.h"

enum { longest_address = 4096 };

struct packed {
    size_t length;
    unsigned char bytes[longest_address];
};

/* A worker has several descriptors. */
static void allow_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) exit(1);
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) exit(1);
}

/* Makes workers, sends their addresses, and keeps them until the other end of `stay` is closed. */
static void serve(size_t count, int report, int stay) {
    ucp_context_h context = context_new();
    struct packed packed_address;
    char nothing;
    memset(&packed_address, 0, sizeof(packed_address));
    for (size_t i = 0; i < count; ++i) {
        ucp_worker_h worker = worker_new(context);
        ucp_address_t* address;
        must_be_ok(ucp_worker_get_address(worker, &address, &packed_address.length),
                   "ucp_worker_get_address");
        must(packed_address.length <= longest_address, "an address", UCS_ERR_BUFFER_TOO_SMALL);
        memcpy(packed_address.bytes, address, packed_address.length);
        ucp_worker_release_address(worker, address);
        for (size_t done = 0; done < sizeof(packed_address);) {
            const ssize_t part =
                write(report, (const char*)&packed_address + done, sizeof(packed_address) - done);
            if (part <= 0) _exit(1);
            done += (size_t)part;
        }
    }
    while (read(stay, &nothing, 1) > 0) {
    }
    _exit(0);
}

static void read_address(int from, struct packed* into) {
    for (size_t done = 0; done < sizeof(*into);) {
        const ssize_t part = read(from, (char*)into + done, sizeof(*into) - done);
        must(part > 0, "a helper process", UCS_ERR_CONNECTION_RESET);
        done += (size_t)part;
    }
}

int main(int argc, char** argv) {
    const size_t count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    const size_t helpers = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (count == 0 || helpers == 0 || count % helpers != 0) {
        fprintf(stderr, "usage: idle_endpoints COUNT PROCESSES (COUNT a multiple of PROCESSES)\n");
        return 2;
    }
    int report[2], stay[2];
    size_t count_read = 0;
    allow_descriptors();
    struct packed* peers = calloc(count + 1, sizeof(*peers));
    if (pipe(stay) != 0) return 1;
    for (size_t i = 0; i < helpers; ++i) {
        /* Helpers start one after the other, so that their output does not mix. The first one
         * makes an additional worker. */
        const size_t share = count / helpers, more = i == 0 ? 1 : 0;
        if (pipe(report) != 0) return 1;
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            close(stay[1]);
            serve(share + more, report[1], stay[0]);
        }
        close(report[1]);
        for (size_t k = 0; k < share + more; ++k)
            read_address(report[0], &peers[count_read++]);
        close(report[0]);
    }
    ucp_context_h context = context_new();
    ucp_worker_h worker = worker_new(context);
    /* The first endpoint pays for what all endpoints share. */
    ep_to_address(worker, (const ucp_address_t*)peers[0].bytes);
    const double before = resident_kb();
    for (size_t i = 1; i <= count; ++i)
        ep_to_address(worker, (const ucp_address_t*)peers[i].bytes);
    printf("{\"endpoints\": %zu, \"mb\": %.3f}\n", count, (resident_kb() - before) / 1024);
    fflush(stdout);
    _Exit(0);
}
