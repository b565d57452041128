/*
 * One process, one thread: 8-byte tagged messages from one worker to another (or to itself), with a
 * number of receives posted all the time. For the cost of matching, and for instructions per
 * message under callgrind. tag_loop WORKERS POSTED ITERATIONS      WORKERS 1: to itself, 2: to the
 * other worker
 */
#include "bench.h"

struct slot {
    uint64_t value;
    void* request;
};

/* A step coprime to any count used here: neighbours in memory do not come one after the other. From
 * the second round on messages come in the order in which their receives were posted anew. */
static size_t slot_of(size_t iteration, size_t posted) {
    return iteration * 7919 % posted;
}

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: tag_loop WORKERS POSTED ITERATIONS\n");
        return 2;
    }
    const size_t posted = strtoull(argv[2], NULL, 10), iterations = strtoull(argv[3], NULL, 10);
    ucp_context_h context = context_new();
    ucp_worker_h sender = worker_new(context);
    ucp_worker_h receiver = argv[1][0] == '2' ? worker_new(context) : sender;
    ucp_ep_h ep = ep_new(sender, receiver);
    struct slot* slots = calloc(posted, sizeof(*slots));
    double started = 0;
    const size_t warm_up = posted > 1000 ? posted : 1000;
    for (size_t i = 0; i < posted; ++i)
        slots[i].request = tag_recv(receiver, &slots[i].value, sizeof(slots[i].value), i);
    for (size_t i = 0; i < warm_up + iterations; ++i) {
        if (i == warm_up) started = now_us();
        const uint64_t value = i + 1;
        const size_t index = slot_of(i, posted);
        struct slot* slot = &slots[index];
        void* sent = tag_send(ep, &value, sizeof(value), index);
        finish(slot->request, receiver, sender);
        finish(sent, sender, receiver);
        if (slot->value != value) {
            fprintf(stderr, "message %zu arrived as %llu\n", i, (unsigned long long)slot->value);
            return 1;
        }
        slot->request = tag_recv(receiver, &slot->value, sizeof(slot->value), index);
    }
    printf("{\"us\": %.5f}\n", (now_us() - started) / (double)(iterations ? iterations : 1));
    fflush(stdout);
    /* The posted receives end with the process: tearing them down is not what is measured. */
    _Exit(0);
}
