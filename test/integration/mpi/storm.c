/* Message storms: 10,000 outstanding receives matched in order, in reverse and by tag; tens of
 * thousands of unexpected messages, small and large; all ranks flood one rank. Order is kept and
 * no byte is lost. */
#include "check.h"

enum { many = 10000, tag_ready = 20000 };

static void handshake(int peer) {
    MPI_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, tag_ready, NULL, 0, MPI_BYTE, peer, tag_ready,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* step is coprime to `many`: the send order visits every tag once, far from the receive order. */
static void many_posted(int sending, int peer, int step) {
    static uint64_t values[many];
    static MPI_Request requests[many];
    for (int i = 0; i < many; ++i)
        values[i] = sending ? pattern_word(77, (size_t)i) : 0;
    if (!sending)
        for (int i = 0; i < many; ++i)
            MPI_OK(MPI_Irecv(&values[i], 8, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]));
    handshake(peer);
    if (sending)
        for (int i = 0; i < many; ++i) {
            const int tag = (int)((long)i * step % many + many) % many;
            MPI_OK(MPI_Isend(&values[tag], 8, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]));
        }
    MPI_OK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
    if (!sending)
        for (int i = 0; i < many; ++i)
            CHECK(values[i] == pattern_word(77, (size_t)i), "receive %d", i);
}

/* All messages have one tag: the n-th message must match the n-th receive. */
static void same_tag_in_order(int sending, int peer, int posted_first) {
    static int values[many];
    static MPI_Request requests[many];
    for (int i = 0; i < many; ++i)
        values[i] = sending ? i : -1;
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == (sending == posted_first)) {
            for (int i = 0; i < many; ++i)
                MPI_OK(
                    sending
                        ? MPI_Isend(&values[i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[i])
                        : MPI_Irecv(&values[i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[i]));
        }
        if (turn == 0) handshake(peer);
    }
    MPI_OK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; ++i)
        CHECK(values[i] == i, "receive %d got message %d", i, values[i]);
}

/* Unexpected messages, alternately small and large, received from the last tag to the first. */
static void unexpected_backwards(int sending, int peer, int count, size_t large) {
    unsigned char** data = calloc((size_t)count, sizeof(*data));
    MPI_Request* requests = calloc((size_t)count, sizeof(*requests));
    for (int i = 0; i < count && sending; ++i) {
        const size_t size = i % 3 == 0 ? large : (size_t)i % 200;
        data[i] = buffer_new(size);
        pattern_fill(data[i], size, (uint64_t)i);
        MPI_OK(MPI_Isend(data[i], (int)size, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]));
    }
    handshake(peer);
    for (int i = count - 1; i >= 0 && !sending; --i) {
        const size_t size = i % 3 == 0 ? large : (size_t)i % 200;
        data[i] = buffer_new(size);
        MPI_OK(MPI_Recv(data[i], (int)size, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data[i], size, (uint64_t)i);
    }
    if (sending) MPI_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; ++i)
        buffer_free(data[i]);
    free(data);
    free(requests);
}

/* All ranks flood rank 0, which begins to receive when the others have sent everything. */
static void flood_one(int count) {
    uint64_t values[16];
    if (rank != 0) {
        for (int i = 0; i < count; ++i) {
            const int words = i % 16 + 1;
            pattern_fill(values, (size_t)words * 8, (uint64_t)(rank * count + i));
            MPI_OK(MPI_Send(values, words * 8, MPI_BYTE, 0, 9, MPI_COMM_WORLD));
        }
        return;
    }
    int* next = calloc((size_t)ranks, sizeof(int));
    for (int i = 0; i < count * (ranks - 1); ++i) {
        MPI_Status status;
        int bytes;
        MPI_OK(MPI_Recv(values, 128, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status));
        MPI_OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        const int source = status.MPI_SOURCE, index = next[source]++;
        CHECK(bytes == (index % 16 + 1) * 8, "rank %d message %d: %d bytes", source, index, bytes);
        CHECK_PATTERN(values, (size_t)bytes, (uint64_t)(source * count + index));
    }
    free(next);
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "storm", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    const int peer = rank ^ 1, sending = rank % 2 == 0;
    if (peer < ranks) {
        many_posted(sending, peer, 1);
        many_posted(sending, peer, -1);
        many_posted(sending, peer, 3001);
        for (int posted_first = 0; posted_first < 2; ++posted_first)
            for (int turn = 0; turn < 2; ++turn)
                same_tag_in_order(sending ^ turn, peer, posted_first);
        unexpected_backwards(sending, peer, 6000, 3000);
        unexpected_backwards(!sending, peer, 300, 100000);
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    flood_one(40000 / ranks);
    return test_end();
}
