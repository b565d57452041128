/* Random messages between random ranks. All ranks draw them from the same seed, so each rank
 * knows which messages it must receive. Sizes, tags, modes, the order of posting and the waiting
 * functions are random. HAWSER_SEEDS: number of seeds (default 10); HAWSER_SEED: the first one.
 * A failure prints the seed that replays it. */
#include "check.h"

enum { messages = 400, tags = 3 };

struct message {
    int from, to, tag, mode;
    size_t size;
};

static size_t draw_size(uint64_t* state) {
    switch (random_below(state, 8)) {
        case 0:
            return 0;
        case 1:
            return random_below(state, 300000);
        case 2:
            return random_below(state, 20000);
        case 3:
            return 8192 - 64 + random_below(state, 128);
        default:
            return random_below(state, 300);
    }
}

static struct message draw(uint64_t* state) {
    struct message m;
    m.from = (int)random_below(state, (size_t)ranks);
    m.to = (int)random_below(state, (size_t)ranks);
    m.tag = (int)random_below(state, tags);
    m.mode = (int)random_below(state, 4);
    m.size = draw_size(state);
    return m;
}

static MPI_Request post_send(const struct message* m, const void* data) {
    MPI_Request request;
    if (m->mode == 0)
        MPI_OK(MPI_Issend(data, (int)m->size, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &request));
    else
        MPI_OK(MPI_Isend(data, (int)m->size, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &request));
    return request;
}

/* Posts this rank's part of the list: sends in order, receives in order, both interleaved at
 * random. */
static int post_all(const struct message* list, MPI_Request* requests, unsigned char** data,
                    uint64_t* chance) {
    int posted = 0, next[2] = {0, 0};
    while (next[0] < messages || next[1] < messages) {
        const int receiving = (int)random_below(chance, 2);
        const int i = next[receiving]++;
        if (i >= messages || (receiving ? list[i].to : list[i].from) != rank) continue;
        unsigned char* buffer = buffer_new_at(list[i].size, random_below(chance, 9));
        data[posted] = buffer;
        if (receiving) {
            MPI_OK(MPI_Irecv(buffer, (int)list[i].size, MPI_BYTE, list[i].from, list[i].tag,
                             MPI_COMM_WORLD, &requests[posted]));
        } else {
            pattern_fill(buffer, list[i].size, (uint64_t)i);
            requests[posted] = post_send(&list[i], buffer);
        }
        ++posted;
    }
    return posted;
}

static void wait_all(MPI_Request* requests, int posted, uint64_t* chance) {
    int left = posted;
    while (left > 0) {
        int index, flag;
        if (random_below(chance, 2) == 0) {
            MPI_OK(MPI_Waitany(posted, requests, &index, MPI_STATUS_IGNORE));
            --left;
        } else {
            MPI_OK(MPI_Testany(posted, requests, &index, &flag, MPI_STATUS_IGNORE));
            if (flag && index != MPI_UNDEFINED) --left;
        }
    }
}

/* Repeats the same interleaving to find the buffer of each message. */
static void check_all(const struct message* list, unsigned char** data, uint64_t* chance,
                      uint64_t seed) {
    int posted = 0, next[2] = {0, 0};
    while (next[0] < messages || next[1] < messages) {
        const int receiving = (int)random_below(chance, 2);
        const int i = next[receiving]++;
        if (i >= messages || (receiving ? list[i].to : list[i].from) != rank) continue;
        (void)random_below(chance, 9);
        const size_t bad = pattern_differs(data[posted], list[i].size, (uint64_t)i);
        CHECK(bad == list[i].size, "seed %llu message %d from %d: byte %zu of %zu",
              (unsigned long long)seed, i, list[i].from, bad, list[i].size);
        buffer_free(data[posted++]);
    }
}

static void run(uint64_t seed) {
    static struct message list[messages];
    static MPI_Request requests[2 * messages];
    static unsigned char* data[2 * messages];
    uint64_t state = seed, chance = seed * 1000 + (uint64_t)rank, again = chance;
    for (int i = 0; i < messages; ++i)
        list[i] = draw(&state);
    const int posted = post_all(list, requests, data, &chance);
    wait_all(requests, posted, &chance);
    check_all(list, data, &again, seed);
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "random_traffic", MPI_THREAD_SINGLE);
    const long count = env_number("HAWSER_SEEDS", 10), first = env_number("HAWSER_SEED", 1);
    for (long seed = first; seed < first + count; ++seed)
        run((uint64_t)seed);
    if (rank == 0) printf("seeds %ld to %ld\n", first, first + count - 1);
    return test_end();
}
