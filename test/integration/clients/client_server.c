/* A server that gets connection requests, and clients that know the server's port. One client is
 * accepted, both sides exchange messages, and it closes; the next client is rejected. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "pair.h"

enum { to_server = 1, to_client = 2 };
static unsigned char out[largest], in[largest];

struct error_calls {
    unsigned calls;
    ucs_status_t status;
};

static void failed(void* argument, ucp_ep_h ep, ucs_status_t status) {
    struct error_calls* which = argument;
    (void)ep;
    ++which->calls;
    which->status = status;
}

static void came(ucp_conn_request_h request, void* where) {
    CHECK(*(ucp_conn_request_h*)where == NULL, "a second request");
    *(ucp_conn_request_h*)where = request;
}

static struct sockaddr_in loopback(unsigned port) {
    struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    made.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return made;
}

static struct sockaddr_in as_in(const struct sockaddr_storage* any) {
    struct sockaddr_in made;
    memcpy(&made, any, sizeof(made));
    CHECK(made.sin_family == AF_INET && made.sin_addr.s_addr == htonl(INADDR_LOOPBACK),
          "another address");
    return made;
}

/* Sends every size with one tag and receives it back with the other. */
static void ask(const struct side* side, ucp_ep_h ep) {
    for (unsigned i = 0; i < size_count; ++i) {
        fill(out, sizes[i], i);
        ucs_status_ptr_t send = ucp_tag_send_nbx(ep, out, sizes[i], to_server, &no_param);
        OK(finish(ucp_tag_recv_nbx(side->worker, in, sizes[i], to_client, all_bits, &no_param)));
        OK(finish(send));
        check_filled(in, sizes[i], i + 1);
    }
}

static void answer(const struct side* side, ucp_ep_h ep) {
    for (unsigned i = 0; i < size_count; ++i) {
        OK(finish(ucp_tag_recv_nbx(side->worker, in, sizes[i], to_server, all_bits, &no_param)));
        check_filled(in, sizes[i], i);
        fill(out, sizes[i], i + 1);
        OK(finish(ucp_tag_send_nbx(ep, out, sizes[i], to_client, &no_param)));
    }
}

static ucp_ep_h reach(const struct side* side, unsigned port, struct error_calls* error_calls) {
    const struct sockaddr_in server = loopback(port);
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr = {(const struct sockaddr*)&server, sizeof(server)},
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {failed, error_calls}};
    ucp_ep_h made;
    OK(ucp_ep_create(side->worker, &params, &made));
    return made;
}

static void be_client(const struct pair* between) {
    const struct side side = side_new(UCP_FEATURE_TAG);
    struct error_calls error_calls = {0, UCS_OK};
    unsigned port;
    pair_read(between, &port, sizeof(port));
    ucp_ep_h ep = reach(&side, port, &error_calls);
    ask(&side, ep);
    ucp_ep_attr_t attr = {.field_mask =
                              UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR | UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR};
    OK(ucp_ep_query(ep, &attr));
    CHECK(ntohs(as_in(&attr.remote_sockaddr).sin_port) == port, "another port");
    const unsigned own = ntohs(as_in(&attr.local_sockaddr).sin_port);
    pair_write(between, &own, sizeof(own));
    CHECK(error_calls.calls == 0, "%s", ucs_status_string(error_calls.status));
    ep_close(ep);
    pair_meet(between);

    ep = reach(&side, port, &error_calls);
    while (error_calls.calls == 0)
        progress();
    CHECK(error_calls.calls == 1 && error_calls.status == UCS_ERR_REJECTED, "%s",
          ucs_status_string(error_calls.status));
    ep_close_now(ep);
    pair_meet(between);
    side_free(&side);
}

static ucp_ep_h accept_one(const struct side* side, ucp_conn_request_h request, unsigned* port,
                           struct error_calls* error_calls) {
    ucp_conn_request_attr_t attr = {.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR};
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .conn_request = request,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler = {failed, error_calls}};
    ucp_ep_h made;
    OK(ucp_conn_request_query(request, &attr));
    *port = ntohs(as_in(&attr.client_address).sin_port);
    OK(ucp_ep_create(side->worker, &params, &made));
    return made;
}

static void be_server(const struct pair* between) {
    const struct side side = side_new(UCP_FEATURE_TAG);
    const struct sockaddr_in any_port = loopback(0);
    ucp_conn_request_h request = NULL;
    struct error_calls error_calls = {0, UCS_OK};
    const ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr = {(const struct sockaddr*)&any_port, sizeof(any_port)},
        .conn_handler = {came, &request}};
    ucp_listener_h listener;
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    OK(ucp_listener_create(side.worker, &params, &listener));
    OK(ucp_listener_query(listener, &attr));
    const unsigned port = ntohs(as_in(&attr.sockaddr).sin_port);
    pair_write(between, &port, sizeof(port));

    while (request == NULL)
        progress();
    unsigned of_client, says_client;
    ucp_ep_h ep = accept_one(&side, request, &of_client, &error_calls);
    request = NULL;
    answer(&side, ep);
    while (error_calls.calls == 0) /* the client closes */
        progress();
    CHECK(error_calls.calls == 1 && error_calls.status == UCS_ERR_CONNECTION_RESET, "%s",
          ucs_status_string(error_calls.status));
    ep_close_now(ep);
    pair_read(between, &says_client, sizeof(says_client));
    CHECK(of_client == says_client, "port %u is %u to the client", of_client, says_client);
    pair_meet(between);

    while (request == NULL)
        progress();
    OK(ucp_listener_reject(listener, request));
    pair_meet(between);
    ucp_listener_destroy(listener);
    side_free(&side);
}

int main(void) {
    client_name = "client_server";
    const struct pair between = pair_new();
    client_begin(between.child == 0 ? "client" : "server");
    if (between.child == 0)
        be_client(&between);
    else
        be_server(&between);
    return pair_end(&between);
}
