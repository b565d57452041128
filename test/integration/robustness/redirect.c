/* Redirects this process's connections from one port of 127.0.0.1 to another, like an attacker
 * on the path. The peers' addresses that the process knows stay unchanged. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peer.h"

static in_port_t from_port; /* of 127.0.0.1, in network order; 0: none */
static in_port_t to_port;

/* Replaces the C library's connect(), for the communication library, too. */
__attribute__((visibility("default"))) int connect(int socket, const struct sockaddr* address,
                                                   socklen_t length) {
    struct sockaddr_in other;
    if (from_port != 0 && address->sa_family == AF_INET && length >= sizeof other) {
        memcpy(&other, address, sizeof other);
        if (other.sin_port == from_port && other.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) {
            other.sin_port = to_port;
            return (int)syscall(SYS_connect, socket, &other, sizeof other);
        }
    }
    return (int)syscall(SYS_connect, socket, address, length);
}

bool on_redirect(const char* word, const char* rest) {
    if (strcmp(word, "redirect") != 0) return false;
    unsigned from = 0;
    unsigned to = 0;
    if (sscanf(rest, "%u %u", &from, &to) != 2 || from > UINT16_MAX || to > UINT16_MAX) {
        say("error two ports are wanted");
        return true;
    }
    from_port = htons((in_port_t)from);
    to_port = htons((in_port_t)to);
    say("ok");
    return true;
}
