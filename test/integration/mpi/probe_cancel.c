/*
 * Tests probe, non-blocking probe, matched probe and receive (blocking and not), cancelled
 * receives, and MPI_PROC_NULL, at eager and rendezvous sizes, between rank 0 and every other rank.
 */
#include "check.h"

static const size_t sizes[] = {0, 1, 100, 8192, 65536, 300000, 1 << 20};
enum { size_count = sizeof(sizes) / sizeof(*sizes), largest = 1 << 20 };

static void send_one(size_t size, int tag) {
    unsigned char* data = buffer_new(size);
    pattern_fill(data, size, size + (uint64_t)rank);
    MPI_OK(MPI_Send(data, (int)size, MPI_BYTE, 0, tag, MPI_COMM_WORLD));
    buffer_free(data);
}

/* Probes twice with the same result, then receives exactly that message. */
static void probe_then_receive(int source, size_t size, int tag, int blocking) {
    unsigned char* in = buffer_new(size);
    MPI_Status status;
    int flag = 0;
    for (int look = 0; look < 2; ++look) {
        if (blocking)
            MPI_OK(MPI_Probe(source, tag, MPI_COMM_WORLD, &status));
        else
            for (flag = 0; !flag;)
                MPI_OK(MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
        check_status(&status, source, tag, size);
    }
    MPI_OK(MPI_Recv(in, (int)size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                    &status));
    check_status(&status, source, tag, size);
    CHECK_PATTERN(in, size, size + (uint64_t)source);
    buffer_free(in);
}

/* A matched message is not found by later probes, so the next probe finds the next message. */
static void match_then_receive(int source, size_t size, int tag, int blocking) {
    unsigned char *first = buffer_new(size), *second = buffer_new(size);
    MPI_Message one, two;
    MPI_Status status;
    MPI_Request request;
    int flag = 0;
    if (blocking)
        MPI_OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &one, &status));
    else
        while (!flag)
            MPI_OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &one, &status));
    check_status(&status, source, tag, size);
    MPI_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, &two, &status));
    check_status(&status, source, tag + 1, size);
    MPI_OK(MPI_Imrecv(second, (int)size, MPI_BYTE, &two, &request));
    MPI_OK(MPI_Mrecv(first, (int)size, MPI_BYTE, &one, &status));
    CHECK(one == MPI_MESSAGE_NULL && two == MPI_MESSAGE_NULL, "the handles are used up");
    check_status(&status, source, tag, size);
    MPI_OK(MPI_Wait(&request, &status));
    check_status(&status, source, tag + 1, size);
    CHECK_PATTERN(first, size, size + (uint64_t)source);
    CHECK_PATTERN(second, size, size + (uint64_t)source);
    buffer_free(first);
    buffer_free(second);
}

static void no_message_no_match(void) {
    MPI_Message message;
    int flag = 1;
    MPI_OK(MPI_Iprobe(MPI_ANY_SOURCE, 4000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "found a message that was not sent");
    MPI_OK(MPI_Improbe(MPI_ANY_SOURCE, 4000, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(!flag, "matched a message that was not sent");
}

static void probe_all(int source) {
    for (int i = 0; i < size_count; ++i) {
        for (int blocking = 0; blocking < 2; ++blocking) {
            probe_then_receive(source, sizes[i], 10, blocking);
            match_then_receive(source, sizes[i], 20, blocking);
        }
    }
}

static void send_probed(void) {
    for (int i = 0; i < size_count; ++i) {
        for (int blocking = 0; blocking < 2; ++blocking) {
            send_one(sizes[i], 10);
            /* Both messages must have arrived before either is received: a blocking send may
             * wait for its match. */
            unsigned char* data = buffer_new(sizes[i]);
            MPI_Request requests[2];
            pattern_fill(data, sizes[i], sizes[i] + (uint64_t)rank);
            for (int k = 0; k < 2; ++k)
                MPI_OK(MPI_Isend(data, (int)sizes[i], MPI_BYTE, 0, 20 + k, MPI_COMM_WORLD,
                                 &requests[k]));
            MPI_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            buffer_free(data);
        }
    }
}

/* Cancels one in three of many posted receives. The others get their messages in order. */
static void cancel_receives(int source) {
    enum { count = 300, size = 512 };
    static unsigned char in[count][size];
    MPI_Request requests[count];
    int cancelled;
    memset(in, untouched, sizeof(in));
    for (int i = 0; i < count; ++i)
        MPI_OK(MPI_Irecv(in[i], size, MPI_BYTE, source, i % 3 == 2 ? 78 : 77, MPI_COMM_WORLD,
                         &requests[i]));
    for (int i = 2; i < count; i += 3) {
        MPI_Status status;
        MPI_OK(MPI_Cancel(&requests[i]));
        MPI_OK(MPI_Wait(&requests[i], &status));
        MPI_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled, "receive %d was not cancelled", i);
    }
    MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, source, 79, MPI_COMM_WORLD));
    for (int i = 0, index = 0; i < count; ++i) {
        MPI_Status status;
        if (i % 3 == 2) {
            for (int k = 0; k < size; ++k)
                CHECK(in[i][k] == untouched, "receive %d, byte %d", i, k);
            continue;
        }
        MPI_OK(MPI_Wait(&requests[i], &status));
        MPI_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(!cancelled, "receive %d counts as cancelled", i);
        CHECK_PATTERN(in[i], size, (uint64_t)index++);
    }
    /* A message with the tag of the cancelled receives goes to a new receive. */
    MPI_OK(MPI_Recv(in[0], size, MPI_BYTE, source, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in[0], size, 4711);
}

static void send_to_cancelled(void) {
    enum { count = 200, size = 512 };
    unsigned char data[size];
    MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 79, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (uint64_t i = 0; i < count; ++i) {
        pattern_fill(data, size, i);
        MPI_OK(MPI_Send(data, size, MPI_BYTE, 0, 77, MPI_COMM_WORLD));
    }
    pattern_fill(data, size, 4711);
    MPI_OK(MPI_Send(data, size, MPI_BYTE, 0, 78, MPI_COMM_WORLD));
}

/* Sends to, receives from and probes MPI_PROC_NULL: all end at once, without data. */
static void nobody(void) {
    int value = 5, count = -1, flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    MPI_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    MPI_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(value == 5 && count == 0 && status.MPI_SOURCE == MPI_PROC_NULL, "count %d", count);
    MPI_OK(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC, "a probe of MPI_PROC_NULL matches at once");
    MPI_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "probe_cancel", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    no_message_no_match();
    nobody();
    for (int peer = 1; peer < ranks; ++peer) {
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            probe_all(peer);
            cancel_receives(peer);
        } else if (rank == peer) {
            send_probed();
            send_to_cancelled();
        }
    }
    return test_end();
}
