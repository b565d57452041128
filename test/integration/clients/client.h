/* Helpers of the UCP clients: checks that end the program with one line, the check which libucp
 * serves it, and workers that all make progress while one of them waits. Everything is in the
 * header, and uses only declarations that the distribution's UCX has, too. */
#ifndef HAWSER_TEST_CLIENT_H
#define HAWSER_TEST_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "provider.h"

_Static_assert(UCP_API_MINOR == CLIENT_API_MINOR, "these are not the headers that were meant");

static const char* client_name;
static unsigned long checks_done;

#define CHECK(condition, ...)                                                                    \
    do {                                                                                         \
        ++checks_done;                                                                           \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "FAIL %s %s:%d: %s: ", client_name, __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                                        \
            fputc('\n', stderr);                                                                 \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

#define STATUS(call, wanted)                                                     \
    do {                                                                         \
        const ucs_status_t status_ = (call);                                     \
        CHECK(status_ == (wanted), "%s: %s", #call, ucs_status_string(status_)); \
    } while (0)
#define OK(call) STATUS(call, UCS_OK)

/* Prints the API version of the headers and of the library. An alarm ends a hanging program. */
static inline void client_begin(const char* name) {
    char why[3 * PATH_MAX], libucp[PATH_MAX] = "no libucp";
    client_name = name;
    alarm(50);
    provider_libucp(libucp);
    printf("%s: compiled for UCP %d.%d, served by %s (%s)\n", name, UCP_API_MAJOR, UCP_API_MINOR,
           libucp, ucp_get_version_string());
    fflush(stdout);
    CHECK(provider_check(why, sizeof(why)), "%s", why);
}

static inline int client_end(void) {
    printf("PASS %s: %lu checks\n", client_name, checks_done);
    return 0;
}

/* A worker with a context of its own, as in two programs. */
struct side {
    ucp_context_h context;
    ucp_worker_h worker;
};

static ucp_worker_h workers[2]; /* of this process */
static unsigned worker_count;

static inline struct side side_new(uint64_t features) {
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SINGLE};
    struct side made;
    OK(ucp_init(&params, NULL, &made.context));
    OK(ucp_worker_create(made.context, &worker_params, &made.worker));
    CHECK(worker_count < 2, "too many workers");
    workers[worker_count++] = made.worker;
    return made;
}

static inline void side_free(const struct side* which) {
    for (unsigned i = 0; i < worker_count; ++i)
        if (workers[i] == which->worker) workers[i] = workers[--worker_count];
    ucp_worker_destroy(which->worker);
    ucp_cleanup(which->context);
}

/* Ends a program that has two sides; returns its exit status. */
static inline int sides_end(const struct side* one, const struct side* other) {
    side_free(one);
    side_free(other);
    return client_end();
}

static inline void progress(void) {
    for (unsigned i = 0; i < worker_count; ++i)
        ucp_worker_progress(workers[i]);
}

/* Waits for an operation, frees its request, and returns its status. */
static inline ucs_status_t finish(ucs_status_ptr_t started) {
    ucs_status_t status;
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_STATUS(started);
    while ((status = ucp_request_check_status(started)) == UCS_INPROGRESS)
        progress();
    ucp_request_free(started);
    return status;
}

static const ucp_request_param_t no_param = {.op_attr_mask = 0};
static const ucp_tag_t all_bits = ~(ucp_tag_t)0;

static inline ucp_ep_h ep_new(const struct side* from, const ucp_address_t* to) {
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = to};
    ucp_ep_h made;
    OK(ucp_ep_create(from->worker, &params, &made));
    return made;
}

static inline ucp_ep_h ep_between(const struct side* from, const struct side* to) {
    ucp_address_t* address;
    size_t length;
    OK(ucp_worker_get_address(to->worker, &address, &length));
    CHECK(length > 0, "an empty address");
    const ucp_ep_h made = ep_new(from, address);
    ucp_worker_release_address(to->worker, address);
    return made;
}

static inline void ep_close(ucp_ep_h ep) {
    OK(finish(ucp_ep_close_nbx(ep, &no_param)));
}

static inline void ep_close_now(ucp_ep_h ep) {
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    OK(finish(ucp_ep_close_nbx(ep, &force)));
}

/* Sizes around the changes of protocol. */
static const size_t sizes[] = {0, 1, 8, 100, 4096, 8193, 100000, (1 << 20) + 3};
enum { size_count = sizeof(sizes) / sizeof(*sizes), largest = (1 << 20) + 3 };

static inline unsigned char byte_at(size_t position, unsigned seed) {
    return (unsigned char)((position * 31 + (position >> 8) * 7 + seed * 101 + 1) & 0xff);
}

static inline void fill(unsigned char* buffer, size_t length, unsigned seed) {
    for (size_t i = 0; i < length; ++i)
        buffer[i] = byte_at(i, seed);
}

static inline void check_filled(const unsigned char* buffer, size_t length, unsigned seed) {
    size_t good = 0;
    while (good < length && buffer[good] == byte_at(good, seed))
        ++good;
    CHECK(good == length, "byte %zu of %zu is wrong", good, length);
}

#endif
