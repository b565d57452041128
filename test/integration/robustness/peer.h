/* A process under test. It executes commands from its standard input, one per line, replies to
 * each with one line that begins with "ok" or "error", and progresses its worker in between. */
#ifndef ROBUSTNESS_PEER_H
#define ROBUSTNESS_PEER_H

#include <stdbool.h>
#include <ucp/api/ucp.h>

enum { max_endpoints = 64, max_channels = 64, max_window = 64 };

struct endpoint {
    bool exists;
    ucp_ep_h handle;
    unsigned errors; /* calls of the error handler */
    ucs_status_t error;
};

struct channel;

struct operation {
    struct channel* owner;
    bool busy;
    void* request;
    uint64_t sequence;
    unsigned char* buffer;
};

/* Messages of one size with one tag in one direction, at most `window` of them in flight. */
struct channel {
    char name[32];
    ucp_ep_h to; /* NULL: receives */
    uint64_t tag;
    size_t size;
    unsigned window;
    uint64_t limit; /* number of messages in all; 0: unlimited */
    uint64_t started, succeeded, failed, wrong;
    unsigned open;
    bool stopped;
    ucs_status_t first_failure;
    struct operation slots[max_window];
};

extern ucp_context_h context;
extern ucp_worker_h worker;
extern struct endpoint endpoints[max_endpoints];
extern struct channel channels[max_channels];

void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
bool step(void); /* progresses once; true if something happened */
double now(void);
unsigned char* from_hex(const char* hex);
/* Replies with the error, if there is one; returns whether there is. */
bool is_error(const char* call, ucs_status_t status);
/* Makes an endpoint that counts its errors, and replies. */
void make_endpoint(struct endpoint* made, ucp_ep_params_t* params);

/* messages.c */
struct channel* find_channel(const char* name);
struct channel* open_channel(const char* name, ucp_ep_h to, uint64_t tag, size_t size,
                             unsigned window, uint64_t limit);
void feed_channels(void);
void forget_channel(struct channel* which);
void stop_channel(struct channel* which);
bool settled(const struct channel* which);
void describe_channel(const struct channel* which);

/* families.c */
bool on_families(const char* word, char* rest); /* false: the word is not one of its commands */
void forget_memory(void);

/* clients.c: the same */
bool on_clients(const char* word, const char* rest);

/* redirect.c: returns false if the word is not one of its commands */
bool on_redirect(const char* word, const char* rest);

/* hardship.c: returns false if the word is not one of its commands */
bool hardship(const char* word, char* rest);
void count_poll(void);

#endif
