/*
 * MPI_ANY_SOURCE and MPI_ANY_TAG: fan-in with order kept per sender, and random mixes of exact and
 * wildcard receives whose outcome is compared with a model of the matching rules, posted early and
 * posted late.
 */

#include "check.h"

enum { messages = 60, tag_kinds = 4, model_rounds = 12 };

struct message {
    int tag;
    size_t size;
    int taken_by; /* index of the receive that gets the message in the model, or -1 */
};

/* Small and large sizes alternate, so that a later short message could overtake an earlier long
 * one. */
static size_t size_of(int index) {
    static const size_t sizes[] = {8, 0, 70000, 16, 300, 9000, 1, 150000, 4000, 64};
    return sizes[index % 10];
}

static uint64_t seed_of(int source, int index) {
    return (uint64_t)source * 7919 + (uint64_t)index;
}

static void send_all(int target, const struct message* plan, MPI_Request* requests,
                     unsigned char** data) {
    for (int i = 0; i < messages; ++i) {
        data[i] = buffer_new(plan[i].size);
        pattern_fill(data[i], plan[i].size, seed_of(rank, i));
        MPI_OK(MPI_Isend(data[i], (int)plan[i].size, MPI_BYTE, target, plan[i].tag, MPI_COMM_WORLD,
                         &requests[i]));
    }
}

static void finish_sends(MPI_Request* requests, unsigned char** data) {
    MPI_OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < messages; ++i)
        buffer_free(data[i]);
}

/* All ranks send to rank 0, which receives any message and checks each sender's order. */
static void fan_in(void) {
    struct message plan[messages];
    for (int i = 0; i < messages; ++i)
        plan[i] = (struct message){i, size_of(i), -1};
    if (rank != 0) {
        MPI_Request requests[messages];
        unsigned char* data[messages];
        send_all(0, plan, requests, data);
        finish_sends(requests, data);
        return;
    }
    int* seen = calloc((size_t)ranks, sizeof(int));
    unsigned char* in = buffer_new(150000);
    for (int i = 0; i < messages * (ranks - 1); ++i) {
        MPI_Status status;
        int count;
        MPI_OK(
            MPI_Recv(in, 150000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        MPI_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        const int source = status.MPI_SOURCE, index = seen[source]++;
        CHECK(status.MPI_TAG == index, "rank %d: tag %d where %d is next", source, status.MPI_TAG,
              index);
        CHECK((size_t)count == size_of(index), "count %d", count);
        CHECK_PATTERN(in, (size_t)count, seed_of(source, index));
    }
    for (int peer = 1; peer < ranks; ++peer)
        CHECK(seen[peer] == messages, "rank %d", peer);
    buffer_free(in);
    free(seen);
}

/* One fixed tag from any source: messages of other tags must stay. */
static void any_source_fixed_tag(void) {
    enum { wanted = 5, other = 6 };
    int value = rank;
    if (rank != 0) {
        MPI_OK(MPI_Send(&value, 1, MPI_INT, 0, other, MPI_COMM_WORLD));
        MPI_OK(MPI_Send(&value, 1, MPI_INT, 0, wanted, MPI_COMM_WORLD));
        return;
    }
    static const int tags[] = {wanted, other};
    for (int t = 0; t < 2; ++t) {
        long sum = 0;
        for (int i = 1; i < ranks; ++i) {
            MPI_Status status;
            MPI_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tags[t], MPI_COMM_WORLD, &status));
            CHECK(status.MPI_TAG == tags[t] && status.MPI_SOURCE == value, "tag %d source %d",
                  status.MPI_TAG, status.MPI_SOURCE);
            sum += value;
        }
        CHECK(sum == (long)ranks * (ranks - 1) / 2, "each rank once, sum %ld", sum);
    }
}

static void draw_plan(uint64_t* state, struct message* plan, int* wanted) {
    for (int i = 0; i < messages; ++i) {
        plan[i] = (struct message){(int)random_below(state, tag_kinds),
                                   size_of((int)random_below(state, 10)), -1};
        wanted[i] = random_below(state, 3) == 0 ? MPI_ANY_TAG : plan[i].tag;
    }
}

static bool fits(int wanted, int tag) {
    return wanted == MPI_ANY_TAG || wanted == tag;
}

/* Receives are posted first: each message goes to the earliest free receive that fits. */
static int model_posted(struct message* plan, const int* wanted) {
    bool used[messages] = {false};
    int left = 0;
    for (int i = 0; i < messages; ++i) {
        for (int r = 0; r < messages && plan[i].taken_by < 0; ++r) {
            if (used[r] || !fits(wanted[r], plan[i].tag)) continue;
            used[r] = true;
            plan[i].taken_by = r;
        }
        if (plan[i].taken_by < 0) ++left;
    }
    return left;
}

/* Messages arrive first: each receive takes the earliest message that fits. */
static void model_unexpected(struct message* plan, const int* wanted) {
    for (int r = 0; r < messages; ++r) {
        for (int i = 0; i < messages; ++i) {
            if (plan[i].taken_by >= 0 || !fits(wanted[r], plan[i].tag)) continue;
            plan[i].taken_by = r;
            break;
        }
    }
}

static const struct message* taken(const struct message* plan, int receive) {
    for (int i = 0; i < messages; ++i)
        if (plan[i].taken_by == receive) return &plan[i];
    return NULL;
}

static void check_taken(const struct message* plan, int receive, const MPI_Status* status,
                        const unsigned char* in) {
    const struct message* message = taken(plan, receive);
    int count;
    CHECK(message != NULL, "receive %d should have got nothing", receive);
    MPI_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(status->MPI_TAG == message->tag && (size_t)count == message->size,
          "receive %d: tag %d size %d, the model says %d and %zu", receive, status->MPI_TAG, count,
          message->tag, message->size);
    CHECK_PATTERN(in, message->size, seed_of(0, (int)(message - plan)));
}

static void receive_posted_first(struct message* plan, const int* wanted, int source) {
    MPI_Request requests[messages];
    unsigned char* in[messages];
    const int left = model_posted(plan, wanted);
    for (int r = 0; r < messages; ++r) {
        in[r] = buffer_new(150000);
        MPI_OK(MPI_Irecv(in[r], 150000, MPI_BYTE, source, wanted[r], MPI_COMM_WORLD, &requests[r]));
    }
    MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD));
    /* As many messages remain as exact receives were left empty by the wildcards. */
    unsigned char* rest = buffer_new(150000);
    for (int r = 0; r < messages; ++r) {
        MPI_Status status;
        if (taken(plan, r) == NULL) continue;
        MPI_OK(MPI_Wait(&requests[r], &status));
        check_taken(plan, r, &status, in[r]);
    }
    for (int r = 0; r < messages; ++r) {
        int cancelled;
        MPI_Status status;
        if (taken(plan, r) == NULL) {
            MPI_OK(MPI_Cancel(&requests[r]));
            MPI_OK(MPI_Wait(&requests[r], &status));
            MPI_OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK(cancelled || wanted[r] != MPI_ANY_TAG, "a wildcard receive stayed empty");
            CHECK(cancelled, "receive %d took a message that the model gave to another", r);
        }
        buffer_free(in[r]);
    }
    for (int i = 0; i < left; ++i)
        MPI_OK(MPI_Recv(rest, 150000, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    buffer_free(rest);
}

static void receive_unexpected(struct message* plan, const int* wanted, int source) {
    unsigned char* in = buffer_new(150000);
    int got = 0;
    model_unexpected(plan, wanted);
    MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD));
    for (int r = 0; r < messages; ++r) {
        MPI_Status status;
        if (taken(plan, r) == NULL) continue;
        MPI_OK(MPI_Recv(in, 150000, MPI_BYTE, source, wanted[r], MPI_COMM_WORLD, &status));
        check_taken(plan, r, &status, in);
        ++got;
    }
    for (; got < messages; ++got)
        MPI_OK(MPI_Recv(in, 150000, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    buffer_free(in);
}

/* Rank 0 sends a random list, rank 1 receives it with random wildcards; both draw the same plan. */
static void model_round(uint64_t seed, bool posted_first) {
    struct message plan[messages];
    int wanted[messages];
    uint64_t state = seed;
    draw_plan(&state, plan, wanted);
    if (rank == 0) {
        MPI_Request requests[messages];
        unsigned char* data[messages];
        if (posted_first)
            MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        send_all(1, plan, requests, data);
        if (!posted_first)
            MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        finish_sends(requests, data);
    } else if (rank == 1) {
        const int source = random_below(&state, 2) == 0 ? 0 : MPI_ANY_SOURCE;
        if (posted_first)
            receive_posted_first(plan, wanted, source);
        else
            receive_unexpected(plan, wanted, source);
    }
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "wildcards", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    fan_in();
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    any_source_fixed_tag();
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (uint64_t round = 0; round < model_rounds; ++round) {
        model_round(round * 2 + 1, true);
        model_round(round * 2 + 2, false);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return test_end();
}
