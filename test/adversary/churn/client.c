/* A client: connects, sends a request, reads some of the replies, and ends as the options say. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "churn.h"

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

static void ignore_failure(void* unused, ucp_ep_h ep, ucs_status_t status) {
    (void)unused;
    (void)ep;
    (void)status;
}

static ucp_ep_h connect_to(ucp_worker_h worker, const struct server_place* place,
                           const void* address) {
    const struct sockaddr_in socket_address = {.sin_family = AF_INET,
                                               .sin_port = htons((uint16_t)place->port),
                                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler.cb = ignore_failure};
    if (place->port != 0) {
        params.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        params.sockaddr.addr = (const struct sockaddr*)&socket_address;
        params.sockaddr.addrlen = sizeof(socket_address);
    } else {
        params.field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = address;
    }
    ucp_ep_h made;
    OK(ucp_ep_create(worker, &params, &made));
    return made;
}

/* Sends its own address in a hello, and reads some of the replies. */
static void talk(ucp_worker_h worker, ucp_ep_h server) {
    ucp_address_t* own;
    size_t length;
    char answer[answer_size];
    OK(ucp_worker_get_address(worker, &own, &length));
    OK(finish(worker, ucp_tag_send_nbx(server, own, length, tag_hello, &no_param)));
    ucp_worker_release_address(worker, own);
    for (unsigned i = 0; i < answers_read; ++i)
        OK(finish(worker, ucp_tag_recv_nbx(worker, answer, sizeof(answer), tag_answer,
                                           ~(ucp_tag_t)0, &no_param)));
}

static void end(const struct options* options, ucp_worker_h worker, ucp_ep_h server) {
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    if (options->ending == ending_kill) raise(SIGKILL);
    if (options->ending == ending_close) (void)finish(worker, ucp_ep_close_nbx(server, &no_param));
    if (options->ending == ending_force) (void)finish(worker, ucp_ep_close_nbx(server, &force));
    ucp_worker_destroy(worker);
}

static void be_client(const struct options* options, ucp_context_h context,
                      const struct server_place* place, const void* address) {
    const ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h worker;
    OK(ucp_worker_create(context, &params, &worker));
    ucp_ep_h server = connect_to(worker, place, address);
    talk(worker, server);
    end(options, worker, server);
}

static ucp_context_h new_context(void) {
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG};
    ucp_context_h made;
    OK(ucp_init(&params, NULL, &made));
    return made;
}

/* Runs in a process of its own, which is killed. */
static void be_killed_client(const struct options* options, const struct server_place* place,
                             const void* address) {
    const pid_t child = fork();
    if (child < 0) FAIL("fork: %s", strerror(errno));
    if (child == 0) {
        alarm(options->limit);
        be_client(options, new_context(), place, address);
        _exit(1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        FAIL("a client that was to be killed ended with status %#x", (unsigned)status);
}

int run_clients(const struct options* options, int socket) {
    struct server_place place;
    char address[longest_hello];
    char go = 0;
    if (!read_all(socket, &place, sizeof(place)) || place.address_length > sizeof(address) ||
        !read_all(socket, address, place.address_length))
        FAIL("the server did not say where it is");
    const bool killed = options->ending == ending_kill;
    ucp_context_h context = killed ? NULL : new_context();
    struct holdings before = {0};
    unsigned count = 0;
    while (read_all(socket, &go, 1)) {
        if (count++ == options->warm) before = measure();
        if (killed) {
            be_killed_client(options, &place, address);
        } else {
            be_client(options, context, &place, address);
        }
        if (!write_all(socket, &go, 1)) FAIL("the server is gone");
    }
    const bool good = compare(options, "clients", before, measure());
    if (!killed) ucp_cleanup(context);
    return good ? 0 : 1;
}
