/* The server: replies to each client continuously until the client ends, and closes. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "churn.h"

enum { most_open_answers = 16, quiet_turns = 3000 };

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

/* One client, from its hello to its end. */
struct client {
    ucp_ep_h ep;
    ucp_conn_request_h request; /* of a client that knows the port */
    bool said_hello;
    bool failed;
    ucs_status_t failure;
    unsigned open_answers;
};

struct server {
    const struct options* options;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_listener_h listener;
    struct client now;
    unsigned not_connected, reset; /* clients by the status of their end */
    char answer[answer_size];
    char hello[longest_hello];
};

static void on_failure(void* client, ucp_ep_h ep, ucs_status_t status) {
    struct client* const failed = client;
    (void)ep;
    failed->failed = true;
    failed->failure = status;
}

static void on_request(ucp_conn_request_h request, void* server) {
    ((struct server*)server)->now.request = request;
}

static void on_answered(void* request, ucs_status_t status, void* client) {
    (void)status;
    --((struct client*)client)->open_answers;
    ucp_request_free(request);
}

static unsigned listen_for_clients(struct server* self) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr = {(const struct sockaddr*)&address, sizeof(address)},
        .conn_handler = {on_request, self}};
    OK(ucp_listener_create(self->worker, &params, &self->listener));
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    struct sockaddr_in where;
    OK(ucp_listener_query(self->listener, &attr));
    memcpy(&where, &attr.sockaddr, sizeof(where));
    return ntohs(where.sin_port);
}

/* Sends the clients' process the server's port or address. */
static void show_place(struct server* self, int socket) {
    struct server_place place = {0};
    ucp_address_t* address = NULL;
    if (self->options->listener) {
        place.port = listen_for_clients(self);
    } else {
        OK(ucp_worker_get_address(self->worker, &address, &place.address_length));
    }
    if (!write_all(socket, &place, sizeof(place)) ||
        !write_all(socket, address, place.address_length))
        FAIL("the clients' process is gone");
    if (address != NULL) ucp_worker_release_address(self->worker, address);
}

static void make_endpoint(struct server* self) {
    ucp_ep_params_t params = {0};
    if (self->options->peer_mode) {
        params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler.cb = on_failure;
        params.err_handler.arg = &self->now;
    }
    if (self->options->listener) {
        params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        params.conn_request = self->now.request;
    } else {
        params.field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = (const ucp_address_t*)self->hello;
    }
    OK(ucp_ep_create(self->worker, &params, &self->now.ep));
}

static void await_client(struct server* self) {
    ucp_request_param_t recv = {.op_attr_mask = 0};
    ucs_status_ptr_t hello = ucp_tag_recv_nbx(self->worker, self->hello, sizeof(self->hello),
                                              tag_hello, ~(ucp_tag_t)0, &recv);
    if (self->options->listener) {
        while (self->now.request == NULL)
            progress(self->worker);
        make_endpoint(self);
    }
    OK(finish(self->worker, hello));
    if (!self->options->listener) make_endpoint(self);
}

static void send_answer(struct server* self) {
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_answered,
        .user_data = &self->now};
    if (self->now.failed || self->now.open_answers == most_open_answers) return;
    const ucs_status_ptr_t sent =
        ucp_tag_send_nbx(self->now.ep, self->answer, sizeof(self->answer), tag_answer, &param);
    if (UCS_PTR_IS_PTR(sent)) ++self->now.open_answers;
}

static void count_end(struct server* self) {
    if (!self->now.failed) return;
    if (self->now.failure == UCS_ERR_NOT_CONNECTED) {
        ++self->not_connected;
    } else if (self->now.failure == UCS_ERR_CONNECTION_RESET) {
        ++self->reset;
    } else {
        FAIL("a client's end was told as %s", ucs_status_string(self->now.failure));
    }
}

static void close_endpoint(struct server* self) {
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    const bool forced = self->options->server_forces;
    (void)finish(self->worker, ucp_ep_close_nbx(self->now.ep, forced ? &force : &no_param));
    while (self->now.open_answers > 0)
        progress(self->worker);
}

static void serve_one(struct server* self, int socket) {
    char go = 0;
    bool ended = false;
    memset(&self->now, 0, sizeof(self->now));
    if (!write_all(socket, &go, 1)) FAIL("the clients' process is gone");
    await_client(self);
    while (!ended || (self->options->peer_mode && !self->now.failed)) {
        send_answer(self);
        progress(self->worker);
        if (!ended) ended = recv(socket, &go, 1, MSG_DONTWAIT) == 1;
    }
    count_end(self);
    close_endpoint(self);
}

/* Waits for delayed cleanup: closing sockets, and objects that are destroyed in progress. */
static void settle(struct server* self) {
    for (unsigned turn = 0; turn < quiet_turns; ++turn) {
        progress(self->worker);
        if (turn % 100 == 0) usleep(1000);
    }
}

static void serve(struct server* self, unsigned count, int socket) {
    for (unsigned i = 0; i < count; ++i)
        serve_one(self, socket);
    settle(self);
}

/* Closing an endpoint is reported as a reset, as in OpenUCX. Destroying a worker is reported
 * with another status than a death. */
static bool statuses_are_right(const struct server* self) {
    const struct options* options = self->options;
    const unsigned all = options->warm + options->clients;
    printf("server: of %u ends %u were told as not connected, %u as reset\n", all,
           self->not_connected, self->reset);
    if (!options->peer_mode) return self->not_connected + self->reset == 0;
    if (options->ending == ending_leave) return self->not_connected == all;
    if (options->ending == ending_kill) return self->reset == all;
    return self->not_connected + self->reset == all;
}

/* The log must have a warning for each client that died, and no other warning. */
static bool log_is_right(const struct server* self, FILE* log) {
    const unsigned all = self->options->warm + self->options->clients;
    char line[1024];
    unsigned deaths = 0;
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        const bool death = strstr(line, "was lost") != NULL;
        if (!death || self->options->ending != ending_kill) fputs(line, stdout);
        deaths += death;
    }
    printf("server: the log tells of %u deaths\n", deaths);
    return self->options->ending == ending_kill ? deaths > 0 && deaths <= all : deaths == 0;
}

/* Redirects all later writes to stderr to the file. */
static FILE* divert_log(void) {
    FILE* const log = tmpfile();
    if (log == NULL || dup2(fileno(log), STDERR_FILENO) < 0) FAIL("no file for the log");
    return log;
}

int run_server(const struct options* options, int socket) {
    static struct server self;
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG};
    const ucp_worker_params_t worker_params = {.field_mask = 0};
    FILE* const log = divert_log();
    self.options = options;
    OK(ucp_init(&params, NULL, &self.context));
    OK(ucp_worker_create(self.context, &worker_params, &self.worker));
    show_place(&self, socket);
    serve(&self, options->warm, socket);
    const struct holdings before = measure();
    serve(&self, options->clients, socket);
    const struct holdings after = measure();
    bool good = compare(options, "server", before, after);
    good = statuses_are_right(&self) && good;
    good = log_is_right(&self, log) && good;
    if (self.listener != NULL) ucp_listener_destroy(self.listener);
    ucp_worker_destroy(self.worker);
    ucp_cleanup(self.context);
    return good ? 0 : 1;
}
