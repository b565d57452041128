/*
 * Resident memory that idle endpoints add to a process, each to a worker of its own in another
 * process: all that are asked for are made. idle_endpoints COUNT PROCESSES
 */
#include <sys/resource.h>
#include <unistd.h>

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

/* Makes workers, tells their addresses, and keeps them until the other end of `stay` is closed. */
static void serve(size_t count, int tell, int stay) {
    ucp_context_h context = context_new();
    struct packed told;
    char nothing;
    memset(&told, 0, sizeof(told));
    for (size_t i = 0; i < count; ++i) {
        ucp_worker_h worker = worker_new(context);
        ucp_address_t* address;
        must_be_ok(ucp_worker_get_address(worker, &address, &told.length),
                   "ucp_worker_get_address");
        must(told.length <= longest_address, "an address", UCS_ERR_BUFFER_TOO_SMALL);
        memcpy(told.bytes, address, told.length);
        ucp_worker_release_address(worker, address);
        for (size_t done = 0; done < sizeof(told);) {
            const ssize_t part = write(tell, (const char*)&told + done, sizeof(told) - done);
            if (part <= 0) _exit(1);
            done += (size_t)part;
        }
    }
    while (read(stay, &nothing, 1) > 0) {
    }
    _exit(0);
}

static void hear(int from, struct packed* into) {
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
    int tell[2], stay[2];
    size_t heard = 0;
    allow_descriptors();
    struct packed* peers = calloc(count + 1, sizeof(*peers));
    if (pipe(stay) != 0) return 1;
    for (size_t i = 0; i < helpers; ++i) {
        /* One after the other: what they tell comes whole. One more worker is for the first one. */
        const size_t share = count / helpers, more = i == 0 ? 1 : 0;
        if (pipe(tell) != 0) return 1;
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            close(stay[1]);
            serve(share + more, tell[1], stay[0]);
        }
        close(tell[1]);
        for (size_t k = 0; k < share + more; ++k)
            hear(tell[0], &peers[heard++]);
        close(tell[0]);
    }
    ucp_context_h context = context_new();
    ucp_worker_h worker = worker_new(context);
    /* The first one pays for what all share. */
    ep_to_address(worker, (const ucp_address_t*)peers[0].bytes);
    const double before = resident_kb();
    for (size_t i = 1; i <= count; ++i)
        ep_to_address(worker, (const ucp_address_t*)peers[i].bytes);
    printf("{\"endpoints\": %zu, \"mb\": %.3f}\n", count, (resident_kb() - before) / 1024);
    fflush(stdout);
    _Exit(0);
}
