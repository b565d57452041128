/* Many clients come to one server, talk to it and end, one after the other. The server and the
 * clients' process must hold the same resources afterwards as before, and the server must see the
 * right status for each end.
 *
 *   churn [--warm N] [--clients N] [--ending close|force|leave|kill] [--listener] [--none]
 *         [--server-forces] [--rss] [--bytes-per-client N] [--limit SECONDS]
 */
#include "churn.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool write_all(int fd, const void* bytes, size_t length) {
    const char* next = bytes;
    while (length > 0) {
        const ssize_t sent = send(fd, next, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        next += sent;
        length -= (size_t)sent;
    }
    return true;
}

bool read_all(int fd, void* bytes, size_t length) {
    char* next = bytes;
    while (length > 0) {
        const ssize_t got = recv(fd, next, length, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        length -= (size_t)got;
    }
    return true;
}

void progress(ucp_worker_h worker) {
    if (ucp_worker_progress(worker) == 0) sched_yield();
}

ucs_status_t finish(ucp_worker_h worker, ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_STATUS(started);
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(started)) == UCS_INPROGRESS)
        progress(worker);
    ucp_request_free(started);
    return status;
}

static enum ending parse_ending(const char* word) {
    static const char* const names[] = {"close", "force", "leave", "kill"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); ++i)
        if (strcmp(word, names[i]) == 0) return (enum ending)i;
    FAIL("unknown ending %s", word);
}

static struct options parse(int count, char** words) {
    struct options made = {.unit = "clients",
                           .warm = 50,
                           .clients = 150,
                           .peer_mode = true,
                           .bytes_per_client = 16,
                           .limit = 300};
    for (int i = 1; i < count; ++i) {
        const char* const word = words[i];
        const char* const value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(word, "--listener") == 0) {
            made.listener = true;
        } else if (strcmp(word, "--none") == 0) {
            made.peer_mode = false;
        } else if (strcmp(word, "--server-forces") == 0) {
            made.server_forces = true;
        } else if (strcmp(word, "--rss") == 0) {
            made.compares_rss = true;
        } else if (strcmp(word, "--warm") == 0) {
            made.warm = (unsigned)strtoul(value, NULL, 10), ++i;
        } else if (strcmp(word, "--clients") == 0) {
            made.clients = (unsigned)strtoul(value, NULL, 10), ++i;
        } else if (strcmp(word, "--bytes-per-client") == 0) {
            made.bytes_per_client = strtol(value, NULL, 10), ++i;
        } else if (strcmp(word, "--limit") == 0) {
            made.limit = (unsigned)strtoul(value, NULL, 10), ++i;
        } else if (strcmp(word, "--ending") == 0) {
            made.ending = parse_ending(value), ++i;
        } else {
            FAIL("unknown option %s", word);
        }
    }
    if (made.warm == 0 || made.clients == 0) FAIL("a number of clients is zero");
    return made;
}

int main(int count, char** words) {
    const struct options options = parse(count, words);
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) FAIL("socketpair");
    const pid_t clients = fork();
    if (clients < 0) FAIL("fork: %s", strerror(errno));
    alarm(options.limit);
    if (clients == 0) {
        close(sockets[0]);
        const int status = run_clients(&options, sockets[1]);
        fflush(stdout);
        _exit(status);
    }
    close(sockets[1]);
    const int own = run_server(&options, sockets[0]);
    close(sockets[0]);
    int clients_status = 0;
    if (waitpid(clients, &clients_status, 0) != clients || clients_status != 0)
        FAIL("the clients' process ended with status %#x", (unsigned)clients_status);
    puts(own == 0 ? "PASS" : "FAIL");
    return own;
}
