/*
 * MPI_THREAD_MULTIPLE: several threads per rank on communicators of their own and on one shared
 * communicator, with point-to-point messages, wildcards, matched probes and collectives at the same
 * time.
 */
#include <pthread.h>

#include "check.h"

enum { thread_count = 4, rounds = 60, shared_tag = 1000 };

static MPI_Comm own[thread_count], shared;
static _Atomic long taken_sum, taken_count;

static size_t size_of(int round) {
    static const size_t sizes[] = {0, 8, 100, 9000, 40, 70000, 1, 200000};
    return sizes[round % 8];
}

static uint64_t seed_of(int sender, int thread, int round) {
    return (uint64_t)((sender * thread_count + thread) * 1000 + round);
}

/* A ring with one tag per thread, so that threads of one rank never take each other's messages. */
static void ring(MPI_Comm comm, int thread, int tag) {
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (int round = 0; round < rounds; ++round) {
        const size_t size = size_of(round + thread);
        unsigned char *out = buffer_new(size), *in = buffer_new(size);
        MPI_Request requests[2];
        pattern_fill(out, size, seed_of(rank, thread, round));
        MPI_OK(MPI_Irecv(in, (int)size, MPI_BYTE, previous, tag, comm, &requests[0]));
        MPI_OK(round % 2 == 0
                   ? MPI_Isend(out, (int)size, MPI_BYTE, next, tag, comm, &requests[1])
                   : MPI_Issend(out, (int)size, MPI_BYTE, next, tag, comm, &requests[1]));
        MPI_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_PATTERN(in, size, seed_of(previous, thread, round));
        buffer_free(out);
        buffer_free(in);
    }
}

/* All threads share one tag: any thread may receive a message, but each message is received
 * once. */
static void any_thread(int thread) {
    const int next = (rank + 1) % ranks;
    for (int round = 0; round < rounds; ++round) {
        long value = (long)rank * 1000000 + thread * 1000 + round, got = -1;
        MPI_Request request;
        MPI_OK(MPI_Isend(&value, 1, MPI_LONG, next, shared_tag, shared, &request));
        MPI_OK(MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, shared_tag, shared, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        taken_sum += got;
        ++taken_count;
    }
}

/* Matched probes in several threads: a thread receives the message that it matched. */
static void matched(int thread) {
    const int next = (rank + 1) % ranks;
    for (int round = 0; round < rounds; ++round) {
        const size_t size = size_of(round) + sizeof(int);
        unsigned char* out = buffer_new(size);
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;
        int count, key = thread * 1000 + round;
        pattern_fill(out, size, (uint64_t)key);
        memcpy(out, &key, sizeof(key));
        MPI_OK(MPI_Isend(out, (int)size, MPI_BYTE, next, shared_tag + 1, shared, &request));
        MPI_OK(MPI_Mprobe(MPI_ANY_SOURCE, shared_tag + 1, shared, &message, &status));
        MPI_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        unsigned char *in = buffer_new((size_t)count), *want = buffer_new((size_t)count);
        MPI_OK(MPI_Mrecv(in, count, MPI_BYTE, &message, &status));
        memcpy(&key, in, sizeof(key));
        pattern_fill(want, (size_t)count, (uint64_t)key);
        memcpy(want, &key, sizeof(key));
        CHECK(memcmp(in, want, (size_t)count) == 0, "message %d is damaged", key);
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        buffer_free(out);
        buffer_free(in);
        buffer_free(want);
    }
}

static void collectives(MPI_Comm comm, int thread) {
    for (int round = 0; round < rounds; ++round) {
        int value = rank + thread + round, sum = 0, token = rank == round % ranks ? round : -1;
        MPI_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == ranks * (ranks - 1) / 2 + ranks * (thread + round), "sum %d", sum);
        MPI_OK(MPI_Bcast(&token, 1, MPI_INT, round % ranks, comm));
        CHECK(token == round, "token %d in round %d", token, round);
        MPI_OK(MPI_Barrier(comm));
    }
}

static void* run(void* argument) {
    const int thread = (int)(intptr_t)argument;
    ring(own[thread], thread, 1);
    ring(shared, thread, thread);
    any_thread(thread);
    matched(thread);
    collectives(own[thread], thread);
    return NULL;
}

/* One thread is blocked in a receive while the others work. The last message ends it. */
static void* blocked(void* argument) {
    int value = 0;
    (void)argument;
    MPI_OK(MPI_Recv(&value, 1, MPI_INT, (rank + ranks - 1) % ranks, 5000, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(value == 5000, "value %d", value);
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[thread_count], waiting;
    test_begin(&argc, &argv, "threads", MPI_THREAD_MULTIPLE);
    for (int t = 0; t < thread_count; ++t)
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[t]));
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    CHECK(pthread_create(&waiting, NULL, blocked, NULL) == 0, "no thread");
    for (intptr_t t = 0; t < thread_count; ++t)
        CHECK(pthread_create(&threads[t], NULL, run, (void*)t) == 0, "no thread");
    for (int t = 0; t < thread_count; ++t)
        CHECK(pthread_join(threads[t], NULL) == 0, "no join");
    int last = 5000;
    MPI_OK(MPI_Send(&last, 1, MPI_INT, (rank + 1) % ranks, 5000, MPI_COMM_WORLD));
    CHECK(pthread_join(waiting, NULL) == 0, "no join");
    long totals[2] = {taken_sum, taken_count}, all[2] = {0, 0}, want = 0;
    MPI_OK(MPI_Allreduce(totals, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; ++r)
        for (int t = 0; t < thread_count; ++t)
            for (int round = 0; round < rounds; ++round)
                want += r * 1000000L + t * 1000 + round;
    CHECK(all[0] == want && all[1] == (long)ranks * thread_count * rounds, "sum %ld of %ld", all[0],
          want);
    for (int t = 0; t < thread_count; ++t)
        MPI_OK(MPI_Comm_free(&own[t]));
    MPI_OK(MPI_Comm_free(&shared));
    return test_end();
}
