#include "peer.h"

#include <dirent.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

ucp_worker_h worker;
struct endpoint endpoints[max_endpoints];
struct channel channels[max_channels];
ucp_context_h context;

void say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

bool is_error(const char* call, ucs_status_t status) {
    if (status != UCS_OK) say("error %s: %s", call, ucs_status_string(status));
    return status != UCS_OK;
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool step(void) {
    if (worker == NULL) return false;
    const unsigned events = ucp_worker_progress(worker);
    feed_channels();
    count_poll();
    return events > 0;
}

/* Progresses until `done` returns true or the time is over; yields the processor if nothing
 * happens. */
static bool progress_until(bool (*done)(const void*), const void* argument, double seconds) {
    const double end = now() + seconds;
    /* The time counts during traffic, too, because two peers can keep each other busy for ever. */
    for (unsigned turn = 1, idle = 0; !done(argument); ++turn) {
        idle = step() ? 0 : idle + 1;
        if (turn % 64 == 0 && now() > end) return false;
        if (idle % 64 == 63) poll(NULL, 0, 1);
    }
    return true;
}

static bool channel_settled(const void* which) {
    return settled(which);
}

static bool request_done(const void* request) {
    return ucp_request_check_status((void*)(uintptr_t)request) != UCS_INPROGRESS;
}

static bool never(const void* unused) {
    (void)unused;
    return false;
}

static void init(void) {
    ucp_params_t params = {0};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                      UCP_FEATURE_AMO64 | UCP_FEATURE_STREAM;
    ucs_status_t status = ucp_init(&params, NULL, &context);
    if (is_error("ucp_init", status)) return;
    const ucp_worker_params_t worker_params = {0};
    status = ucp_worker_create(context, &worker_params, &worker);
    if (is_error("ucp_worker_create", status)) {
        worker = NULL;
        ucp_cleanup(context);
        return;
    }
    say("ok");
}

static void tell_address(void) {
    ucp_address_t* address;
    size_t length;
    if (is_error("ucp_worker_get_address", ucp_worker_get_address(worker, &address, &length)))
        return;
    printf("ok ");
    for (size_t i = 0; i < length; ++i)
        printf("%02x", ((const unsigned char*)address)[i]);
    say("%s", "");
    ucp_worker_release_address(worker, address);
}

static void failed(void* argument, ucp_ep_h handle, ucs_status_t status) {
    struct endpoint* which = argument;
    (void)handle;
    ++which->errors;
    which->error = status;
}

/* A heap block of the exact size, so that a sanitizer detects reads beyond it. */
unsigned char* from_hex(const char* hex) {
    const size_t length = strlen(hex) / 2;
    unsigned char* bytes = malloc(length > 0 ? length : 1);
    for (size_t i = 0; bytes != NULL && i < length; ++i) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return bytes;
}

void make_endpoint(struct endpoint* made, ucp_ep_params_t* params) {
    params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params->err_handler.cb = failed;
    params->err_handler.arg = made;
    made->errors = 0;
    const ucs_status_t status = ucp_ep_create(worker, params, &made->handle);
    made->exists = status == UCS_OK;
    say(made->exists ? "ok" : "error %s", ucs_status_string(status));
}

static void connect_ep(char* rest) {
    unsigned id = 0;
    char mode[8] = "";
    static char hex[8192];
    if (sscanf(rest, "%u %7s %8191s", &id, mode, hex) != 3 || id >= max_endpoints) {
        say("error usage: ep ID peer|none HEX");
        return;
    }
    unsigned char* address = from_hex(hex);
    ucp_ep_params_t params = {0};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = (const ucp_address_t*)address;
    params.err_mode =
        strcmp(mode, "peer") == 0 ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    make_endpoint(&endpoints[id], &params);
    free(address);
}

/* Replies with the endpoint's transports and devices: "ok tcp/eth0 …". */
static void tell_lanes(const char* rest) {
    const struct endpoint* which = &endpoints[atoi(rest) % max_endpoints];
    ucp_transport_entry_t entries[8];
    ucp_ep_attr_t attr = {0};
    attr.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
    attr.transports.entries = entries;
    attr.transports.num_entries = sizeof(entries) / sizeof(entries[0]);
    attr.transports.entry_size = sizeof(entries[0]);
    const ucs_status_t status =
        which->exists ? ucp_ep_query(which->handle, &attr) : UCS_ERR_NO_ELEM;
    if (is_error("ucp_ep_query", status)) return;
    printf("ok");
    for (unsigned i = 0; i < attr.transports.num_entries; ++i)
        printf(" %s/%s", entries[i].transport_name, entries[i].device_name);
    say("%s", "");
}

static void close_ep(char* rest) {
    unsigned id = 0;
    char mode[8] = "";
    double seconds = 0;
    if (sscanf(rest, "%u %7s %lf", &id, mode, &seconds) != 3 || id >= max_endpoints ||
        !endpoints[id].exists) {
        say("error usage: close ID flush|force SECONDS");
        return;
    }
    ucp_request_param_t param = {0};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = strcmp(mode, "force") == 0 ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    endpoints[id].exists = false;
    void* request = ucp_ep_close_nbx(endpoints[id].handle, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        say("ok %s", ucs_status_string(UCS_PTR_STATUS(request)));
        return;
    }
    const bool done = progress_until(request_done, request, seconds);
    say("ok %s", done ? ucs_status_string(ucp_request_check_status(request)) : "timeout");
    ucp_request_free(request);
}

static void open_messages(const char* word, char* rest) {
    char name[32] = "";
    unsigned id = 0, window = 0;
    unsigned long long tag = 0, size = 0, limit = 0;
    const bool sends = strcmp(word, "send") == 0;
    const int fields =
        sends ? sscanf(rest, "%31s %u %llu %llu %u %llu", name, &id, &tag, &size, &window, &limit)
              : sscanf(rest, "%31s %llu %llu %u %llu", name, &tag, &size, &window, &limit);
    if (fields != (sends ? 6 : 5) || id >= max_endpoints || (sends && !endpoints[id].exists)) {
        say("error usage: send NAME EP TAG SIZE WINDOW LIMIT, recv NAME TAG SIZE WINDOW LIMIT");
        return;
    }
    ucp_ep_h to = sends ? endpoints[id].handle : NULL;
    say(open_channel(name, to, tag, size, window, limit) != NULL ? "ok" : "error no memory");
}

static void on_channel(const char* word, char* rest) {
    char name[32] = "";
    double seconds = 0;
    sscanf(rest, "%31s %lf", name, &seconds);
    struct channel* which = name[0] != '\0' ? find_channel(name) : NULL;
    if (which == NULL) {
        say("error no channel '%s'", name);
        return;
    }
    if (strcmp(word, "stop") == 0) stop_channel(which);
    if (strcmp(word, "wait") == 0 && !progress_until(channel_settled, which, seconds)) {
        printf("timeout ");
    }
    describe_channel(which);
}

static void list_descriptors(void) {
    DIR* folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        say("error /proc/self/fd");
        return;
    }
    char targets[4096] = "";
    unsigned count = 0;
    for (const struct dirent* each; (each = readdir(folder)) != NULL;) {
        char target[200];
        const ssize_t length = readlinkat(dirfd(folder), each->d_name, target, sizeof(target) - 1);
        if (length < 0 || atoi(each->d_name) == dirfd(folder)) continue;
        target[length] = '\0';
        ++count;
        strncat(targets, " ", sizeof(targets) - strlen(targets) - 1);
        strncat(targets, target, sizeof(targets) - strlen(targets) - 1);
    }
    closedir(folder);
    say("ok %u%s", count, targets);
}

static void destroy(void) {
    if (worker != NULL) {
        ucp_worker_destroy(worker);
        forget_memory();
        ucp_cleanup(context);
    }
    worker = NULL;
    for (unsigned i = 0; i < max_channels; ++i)
        forget_channel(&channels[i]);
    memset(endpoints, 0, sizeof(endpoints));
    say("ok");
}

static void obey(char* line) {
    char* rest = line;
    const char* word = strsep(&rest, " \n");
    if (rest == NULL) rest = line + strlen(line);
    if (strcmp(word, "init") == 0) {
        init();
    } else if (strcmp(word, "fds") == 0) {
        list_descriptors();
    } else if (strcmp(word, "quit") == 0) {
        say("ok");
        exit(0);
    } else if (strcmp(word, "idle") == 0) { /* no progress before the next command */
        say("ok");
        struct pollfd input = {0, POLLIN, 0};
        poll(&input, 1, -1);
    } else if (hardship(word, rest) || on_redirect(word, rest)) {
    } else if (strcmp(word, "destroy") == 0) {
        destroy();
    } else if (worker == NULL) {
        say("error no worker");
    } else if (on_families(word, rest) || on_clients(word, rest)) {
    } else if (strcmp(word, "address") == 0) {
        tell_address();
    } else if (strcmp(word, "ep") == 0) {
        connect_ep(rest);
    } else if (strcmp(word, "lanes") == 0) {
        tell_lanes(rest);
    } else if (strcmp(word, "close") == 0) {
        close_ep(rest);
    } else if (strcmp(word, "errors") == 0) {
        const struct endpoint* which = &endpoints[atoi(rest) % max_endpoints];
        say("ok %u %s", which->errors, which->errors > 0 ? ucs_status_string(which->error) : "-");
    } else if (strcmp(word, "send") == 0 || strcmp(word, "recv") == 0) {
        open_messages(word, rest);
    } else if (strcmp(word, "progress") == 0) {
        progress_until(never, NULL, atof(rest));
        say("ok");
    } else {
        on_channel(word, rest);
    }
}

/* Polls for commands sometimes during traffic, and always if nothing happens. */
int main(void) {
    static char line[16384];
    size_t length = 0;
    for (unsigned idle = 0, turn = 0;;) {
        idle = step() ? 0 : idle + 1;
        if (worker != NULL && ++turn % 16 != 0) continue;
        struct pollfd input = {0, POLLIN, 0};
        if (poll(&input, 1, worker == NULL ? -1 : (idle > 500 ? 1 : 0)) <= 0) continue;
        const ssize_t got = read(0, line + length, sizeof(line) - 1 - length);
        if (got <= 0) return 0; /* the test has ended */
        length += (size_t)got;
        line[length] = '\0';
        char* begin = line;
        for (char* end; (end = strchr(begin, '\n')) != NULL; begin = end + 1) {
            *end = '\0';
            obey(begin);
        }
        length -= (size_t)(begin - line);
        memmove(line, begin, length);
    }
}
