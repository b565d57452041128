/* Clients that connect and end: declarations that the server, the clients and the measurements
 * share. */
#ifndef HAWSER_CHURN_H
#define HAWSER_CHURN_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* How a client ends. */
enum ending {
    ending_close, /* it closes its endpoint, then destroys its worker */
    ending_force, /* it closes its endpoint by force, then destroys its worker */
    ending_leave, /* it destroys its worker and leaves the endpoint to that */
    ending_kill   /* its process is killed */
};

struct options {
    const char* unit; /* the counted objects: "clients" */
    unsigned warm;    /* clients before the first measurement */
    unsigned clients; /* clients between the first and the second measurement */
    enum ending ending;
    bool listener;         /* clients know a port; otherwise both sides exchange addresses */
    bool peer_mode;        /* the server's endpoints have error handling */
    bool server_forces;    /* the server closes its endpoints by force */
    bool compares_rss;     /* the resident set is compared as well */
    long bytes_per_client; /* limit for the growth of live memory per client */
    unsigned limit;        /* seconds after which the program ends by SIGALRM */
};

/* Ends the program with one line. */
#define FAIL(...)                                              \
    do {                                                       \
        fprintf(stderr, "churn: %s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__);                          \
        fputc('\n', stderr);                                   \
        exit(1);                                               \
    } while (0)

#define OK(call)                                                                  \
    do {                                                                          \
        const ucs_status_t status_ = (call);                                      \
        if (status_ != UCS_OK) FAIL("%s: %s", #call, ucs_status_string(status_)); \
    } while (0)

enum { tag_hello = 1, tag_answer = 2, answer_size = 64, answers_read = 3, longest_hello = 4096 };

/* The first message over the socket pair: of a client to the server, and of the server to the
 * clients' process. */
struct server_place {
    unsigned port;         /* of the listener, or 0 */
    size_t address_length; /* of the packed address that follows, or 0 */
};

/* Runs the process of the clients. For each byte that it reads from `socket` it runs one client,
 * and replies with one byte when the client has ended. It ends at the end of the stream. */
int run_clients(const struct options* options, int socket);

/* The server. Returns the exit status. */
int run_server(const struct options* options, int socket);

/* The resources of a process. */
struct holdings {
    long live_bytes; /* allocated and not freed */
    long resident;   /* bytes */
    long descriptors;
    long threads;
};
struct holdings measure(void);

/* Prints both measurements; returns true if the second exceeds the first by no more than the
 * options allow. */
bool compare(const struct options* options, const char* side, struct holdings before,
             struct holdings after);

/* Blocking transfers over the socket pair. Return whether all bytes were transferred. */
bool write_all(int fd, const void* bytes, size_t length);
bool read_all(int fd, void* bytes, size_t length);

/* Progresses the worker. Gives the processor to the other side if there is nothing to do. */
void progress(ucp_worker_h worker);

/* Progresses the worker until the operation ends; returns its status. */
ucs_status_t finish(ucp_worker_h worker, ucs_status_ptr_t started);

#endif
