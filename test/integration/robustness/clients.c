/* A server whose clients know its port, and such a client; both on loopback. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { first_accepted = max_endpoints / 2 }; /* the server's endpoints, in order */

static ucp_listener_h listener;
static unsigned accepted, unanswered;
static bool accepts = true;

static struct sockaddr_in at_port(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void came(ucp_conn_request_h request, void* unused) {
    (void)unused;
    if (!accepts) ++unanswered;
    if (!accepts || first_accepted + accepted >= max_endpoints) return;
    struct endpoint* made = &endpoints[first_accepted + accepted];
    ucp_ep_params_t params = {0};
    params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params.conn_request = request;
    made->exists = ucp_ep_create(worker, &params, &made->handle) == UCS_OK;
    if (made->exists) ++accepted;
}

static void listen_for_clients(void) {
    const struct sockaddr_in address = at_port(0);
    ucp_listener_params_t params = {0};
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    params.sockaddr.addr = (const struct sockaddr*)&address;
    params.sockaddr.addrlen = sizeof(address);
    params.conn_handler.cb = came;
    if (is_error("ucp_listener_create", ucp_listener_create(worker, &params, &listener))) return;
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_listener_query(listener, &attr);
    struct sockaddr_in where;
    memcpy(&where, &attr.sockaddr, sizeof(where));
    say("ok %u", ntohs(where.sin_port));
}

static void reach(unsigned id, unsigned port) {
    const struct sockaddr_in address = at_port(port);
    ucp_ep_params_t params = {0};
    params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    params.sockaddr.addr = (const struct sockaddr*)&address;
    params.sockaddr.addrlen = sizeof(address);
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    make_endpoint(&endpoints[id % max_endpoints], &params);
}

bool on_clients(const char* word, const char* rest) {
    unsigned id = 0, port = 0;
    sscanf(rest, "%u %u", &id, &port);
    if (strcmp(word, "listen") == 0) {
        listen_for_clients();
    } else if (strcmp(word, "unanswered") == 0) { /* later requests are kept */
        accepts = false;
        say("ok");
    } else if (strcmp(word, "requests") == 0) {
        say("ok %u", unanswered);
    } else if (strcmp(word, "reach") == 0) {
        reach(id, port);
    } else {
        return false;
    }
    return true;
}
