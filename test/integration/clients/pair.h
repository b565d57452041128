/* Two processes that initialize UCP after the fork, and a pipe in each direction between them. */
#ifndef HAWSER_TEST_CLIENT_PAIR_H
#define HAWSER_TEST_CLIENT_PAIR_H

#include <poll.h>
#include <sys/wait.h>

#include "client.h"

struct pair {
    pid_t child; /* 0 in the child */
    int in, out;
};

static inline struct pair pair_new(void) {
    int down[2], up[2];
    struct pair made;
    CHECK(pipe(down) == 0 && pipe(up) == 0, "no pipe");
    made.child = fork();
    CHECK(made.child >= 0, "no process");
    made.in = made.child == 0 ? down[0] : up[0];
    made.out = made.child == 0 ? up[1] : down[1];
    close(made.child == 0 ? down[1] : up[1]);
    close(made.child == 0 ? up[0] : down[0]);
    return made;
}

static inline void pair_write(const struct pair* between, const void* data, size_t length) {
    CHECK(write(between->out, data, length) == (ssize_t)length, "the other process is gone");
}

static inline void pair_read(const struct pair* between, void* data, size_t length) {
    for (size_t done = 0; done < length;) {
        const ssize_t got = read(between->in, (char*)data + done, length - done);
        CHECK(got > 0, "the other process is gone");
        done += (size_t)got;
    }
}

/* Bytes with their length before them. The reader must free its copy. */
static inline void pair_write_sized(const struct pair* between, const void* data, size_t length) {
    pair_write(between, &length, sizeof(length));
    pair_write(between, data, length);
}

static inline void* pair_read_sized(const struct pair* between) {
    size_t length;
    pair_read(between, &length, sizeof(length));
    void* const data = malloc(length);
    CHECK(data != NULL, "no memory");
    pair_read(between, data, length);
    return data;
}

static inline void pair_write_address(const struct pair* between, const struct side* side) {
    ucp_address_t* address;
    size_t length;
    OK(ucp_worker_get_address(side->worker, &address, &length));
    pair_write_sized(between, address, length);
    ucp_worker_release_address(side->worker, address);
}

/* Waits until both processes have arrived. Each makes progress meanwhile, because the other one
 * may need it. */
static inline void pair_meet(const struct pair* between) {
    struct pollfd input = {.fd = between->in, .events = POLLIN};
    char token = 1;
    pair_write(between, &token, 1);
    while (poll(&input, 1, 0) == 0)
        progress();
    pair_read(between, &token, 1);
}

/* Ends both processes. The parent's status includes the child's. */
static inline int pair_end(const struct pair* between) {
    int status = 0;
    if (between->child != 0) {
        CHECK(waitpid(between->child, &status, 0) == between->child, "the child is lost");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x",
              (unsigned)status);
    }
    return client_end();
}

#endif
