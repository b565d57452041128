/*
 * Helpers of the small benchmark programs: UCP set-up through calls that every UCP since 1.13 has,
 * so that the same binary runs on either library, and a clock. Each program prints one JSON object.
 */
#ifndef HAWSER_TEST_BENCH_H
#define HAWSER_TEST_BENCH_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "test/bench/by_value.h"

static inline void must(int good, const char* operation, ucs_status_t status) {
    if (good) return;
    fprintf(stderr, "%s failed: %s\n", operation, ucs_status_string(status));
    exit(1);
}

static inline void must_be_ok(ucs_status_t status, const char* operation) {
    must(status == UCS_OK, operation, status);
}

static inline double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static inline double resident_kb(void) {
    long pages = 0, ignored = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &ignored, &pages) != 2) exit(1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static inline ucp_context_h context_new(void) {
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG};
    ucp_config_t* config;
    ucp_context_h context;
    must_be_ok(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    /* ucp_init of a newer header would request a version that an older library does not have. */
    must_be_ok(ucp_init_version(1, 13, &params, config, &context), "ucp_init");
    ucp_config_release(config);
    return context;
}

static inline ucp_worker_h worker_new(ucp_context_h context) {
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_worker_h worker;
    must_be_ok(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
    return worker;
}

static inline ucp_ep_h ep_to_address(ucp_worker_h from, const ucp_address_t* address) {
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = address};
    ucp_ep_h ep;
    must_be_ok(ucp_ep_create(from, &params, &ep), "ucp_ep_create");
    return ep;
}

static inline ucp_ep_h ep_new(ucp_worker_h from, ucp_worker_h to) {
    ucp_address_t* address;
    size_t length;
    must_be_ok(ucp_worker_get_address(to, &address, &length), "ucp_worker_get_address");
    ucp_ep_h ep = ep_to_address(from, address);
    ucp_worker_release_address(to, address);
    return ep;
}

static inline void* tag_send(ucp_ep_h ep, const void* data, size_t size, ucp_tag_t tag) {
    const ucp_request_param_t param = {.op_attr_mask = 0};
    void* request = ucp_tag_send_nbx(ep, data, size, tag, &param);
    must(!UCS_PTR_IS_ERR(request), "ucp_tag_send_nbx", UCS_PTR_STATUS(request));
    return request;
}

static inline void* tag_recv(ucp_worker_h worker, void* data, size_t size, ucp_tag_t tag) {
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    void* request = ucp_tag_recv_nbx(worker, data, size, tag, UINT64_MAX, &param);
    must(!UCS_PTR_IS_ERR(request), "ucp_tag_recv_nbx", UCS_PTR_STATUS(request));
    return request;
}

/* Prints a member of the JSON object. Sorts the times. */
static inline void print_percentiles(const char* name, double* times, size_t count) {
    qsort(times, count, sizeof(*times), by_value);
    printf("\"%s\": {\"p50\": %.3f, \"p90\": %.3f, \"p99\": %.3f}", name, times[count / 2],
           times[count * 9 / 10], times[count * 99 / 100]);
}

/* Progresses both workers until the request is complete, then frees it; NULL counts as complete. */
static inline void finish(void* request, ucp_worker_h one, ucp_worker_h two) {
    if (request == NULL) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(one);
        if (two != one) ucp_worker_progress(two);
    }
    must_be_ok(ucp_request_check_status(request), "the request");
    ucp_request_free(request);
}

#endif
