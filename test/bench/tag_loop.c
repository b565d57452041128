/*
 * One process, one thread: 8-byte tagged messages from one worker to another (or to itself) with a
 * constant number of posted receives. Measures the cost of matching, and instructions per message
 * under callgrind.
 *
 *   tag_loop WORKERS POSTED ITERATIONS ORDER
 *
 * WORKERS is 1 (messages to itself) or 2 (messages to the other worker). ORDER is `repeated` (every
 * round has the same order, which equals the order of posting from the second round on) or `mixed`
 * (each round has another order).
 */
#include "bench.h"

struct slot {
    uint64_t value;
    void* request;
};

/* Steps are coprime to all counts used here, so neighbours in memory do not follow each other. */
static const size_t steps[] = {7919, 3571, 1229, 9973, 7001, 4003, 6007};

static size_t slot_of(size_t iteration, size_t posted, int mixed) {
    const size_t round = mixed ? iteration / posted : 0;
    return iteration * steps[round % (sizeof(steps) / sizeof(steps[0]))] % posted;
}

struct exchange {
    ucp_worker_h sender, receiver;
    ucp_ep_h ep;
    struct slot* slots;
    size_t posted;
    int mixed;
};

static void messages(const struct exchange* with, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
        const uint64_t value = i + 1;
        const size_t index = slot_of(i, with->posted, with->mixed);
        struct slot* slot = &with->slots[index];
        void* sent = tag_send(with->ep, &value, sizeof(value), index);
        finish(slot->request, with->receiver, with->sender);
        finish(sent, with->sender, with->receiver);
        if (slot->value != value) {
            fprintf(stderr, "message %zu arrived as %llu\n", i, (unsigned long long)slot->value);
            exit(1);
        }
        slot->request = tag_recv(with->receiver, &slot->value, sizeof(slot->value), index);
    }
}

/* callgrind counts the instructions of this function, by its name. */
__attribute__((noinline, noclone)) void measured(const struct exchange* with, size_t first,
                                                 size_t last) {
    messages(with, first, last);
}

int main(int argc, char** argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: tag_loop WORKERS POSTED ITERATIONS repeated|mixed\n");
        return 2;
    }
    const size_t posted = strtoull(argv[2], NULL, 10), iterations = strtoull(argv[3], NULL, 10);
    ucp_context_h context = context_new();
    struct exchange with = {
        .sender = worker_new(context), .posted = posted, .mixed = argv[4][0] == 'm'};
    with.receiver = argv[1][0] == '2' ? worker_new(context) : with.sender;
    with.ep = ep_new(with.sender, with.receiver);
    with.slots = calloc(posted, sizeof(*with.slots));
    for (size_t i = 0; i < posted; ++i)
        with.slots[i].request =
            tag_recv(with.receiver, &with.slots[i].value, sizeof(with.slots[i].value), i);
    const size_t warm_up = posted > 1000 ? posted : 1000;
    messages(&with, 0, warm_up);
    const double started = now_us();
    measured(&with, warm_up, warm_up + iterations);
    printf("{\"us\": %.5f}\n", (now_us() - started) / (double)(iterations ? iterations : 1));
    fflush(stdout);
    /* Exit without destroying the posted receives: teardown is not measured. */
    _Exit(0);
}
