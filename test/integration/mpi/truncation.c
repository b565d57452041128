/*
 * Messages longer than their receive buffer: MPI_ERR_TRUNCATE under MPI_ERRORS_RETURN, nothing
 * written behind the buffer, and the same pair of ranks works on afterwards. Posted first and
 * unexpected, contiguous and strided, eager and rendezvous, matched probe included.
 */

#include "check.h"

static void expect_truncation(int code, size_t sent, size_t capacity) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_OK(MPI_Error_class(code, &class));
    CHECK(class == MPI_ERR_TRUNCATE, "error class %d for %zu bytes into %zu", class, sent,
          capacity);
}

static void wait_go(int peer) {
    MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void send_go(int peer) {
    MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD));
}

static void sender(int peer, size_t sent, bool posted_first) {
    unsigned char* data = buffer_new(sent);
    MPI_Request request;
    pattern_fill(data, sent, sent);
    if (posted_first) wait_go(peer);
    MPI_OK(MPI_Isend(data, (int)sent, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request));
    if (!posted_first) send_go(peer);
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_OK(MPI_Send(data, (int)sent, MPI_BYTE, peer, 3, MPI_COMM_WORLD));
    buffer_free(data);
}

static void check_next_message(int peer, size_t sent) {
    unsigned char* complete = buffer_new(sent);
    MPI_OK(MPI_Recv(complete, (int)sent, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(complete, sent, sent);
    buffer_free(complete);
}

static void receiver(int peer, size_t sent, size_t capacity, bool posted_first) {
    unsigned char* in = buffer_new(capacity);
    MPI_Request request;
    MPI_Status status;
    if (!posted_first) wait_go(peer);
    MPI_OK(MPI_Irecv(in, (int)capacity, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request));
    if (posted_first) send_go(peer);
    expect_truncation(MPI_Wait(&request, &status), sent, capacity);
    buffer_free(in);
    check_next_message(peer, sent);
}

/* Every second byte of the buffer: the gaps and everything behind must stay untouched. */
static void receiver_strided(int peer, size_t sent, size_t capacity, bool posted_first) {
    unsigned char* in = buffer_new(2 * capacity);
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype strided = vector_type_new((int)capacity, 1, 2, MPI_BYTE);
    if (!posted_first) wait_go(peer);
    MPI_OK(MPI_Irecv(in, 1, strided, peer, 2, MPI_COMM_WORLD, &request));
    if (posted_first) send_go(peer);
    expect_truncation(MPI_Wait(&request, &status), sent, capacity);
    for (size_t i = 1; i < 2 * capacity; i += 2)
        if (in[i] != untouched) CHECK(false, "gap byte %zu was written", i);
    MPI_OK(MPI_Type_free(&strided));
    buffer_free(in);
    check_next_message(peer, sent);
}

static void receiver_matched(int peer, size_t sent, size_t capacity) {
    unsigned char* in = buffer_new(capacity);
    MPI_Message message;
    MPI_Status status;
    wait_go(peer);
    MPI_OK(MPI_Mprobe(peer, 2, MPI_COMM_WORLD, &message, &status));
    expect_truncation(MPI_Mrecv(in, (int)capacity, MPI_BYTE, &message, &status), sent, capacity);
    buffer_free(in);
    check_next_message(peer, sent);
}

static void run(size_t sent, size_t capacity) {
    for (int variant = 0; variant < 5; ++variant) {
        const bool posted_first = variant % 2 == 0 && variant < 4;
        if (rank == 0) {
            sender(1, sent, posted_first);
        } else if (rank == 1) {
            if (variant < 2)
                receiver(0, sent, capacity, posted_first);
            else if (variant < 4)
                receiver_strided(0, sent, capacity, posted_first);
            else
                receiver_matched(0, sent, capacity);
        }
    }
}

/* Only the receives with short buffers fail, and MPI_Waitall reports which. */
static void waitall_names_the_failed(void) {
    enum { count = 6, size = 40000 };
    unsigned char* data[count];
    MPI_Request requests[count];
    MPI_Status statuses[count];
    if (rank > 1) return;
    for (int i = 0; i < count; ++i) {
        const size_t capacity = rank == 1 && i % 2 == 1 ? size / 2 : size;
        data[i] = buffer_new(capacity);
        if (rank == 0) {
            pattern_fill(data[i], size, (uint64_t)i);
            MPI_OK(MPI_Isend(data[i], size, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]));
        } else {
            MPI_OK(MPI_Irecv(data[i], (int)capacity, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
        }
    }
    const int code = MPI_Waitall(count, requests, statuses);
    CHECK(rank == 0 ? code == MPI_SUCCESS : code == MPI_ERR_IN_STATUS, "MPI_Waitall gave %d", code);
    for (int i = 0; i < count; ++i) {
        /* MPI_Waitall may stop at the first failure and report the others as pending. */
        if (rank == 1 && statuses[i].MPI_ERROR == MPI_ERR_PENDING)
            statuses[i].MPI_ERROR = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        if (rank == 1 && i % 2 == 1)
            expect_truncation(statuses[i].MPI_ERROR, size, size / 2);
        else if (rank == 1)
            CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS, "error %d", statuses[i].MPI_ERROR);
        if (rank == 1 && i % 2 == 0) CHECK_PATTERN(data[i], size, (uint64_t)i);
        buffer_free(data[i]);
    }
}

int main(int argc, char** argv) {
    static const size_t sent[] = {1, 9, 200, 8192, 20000, 70000, 300000, 3 << 20};
    test_begin(&argc, &argv, "truncation", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (size_t i = 0; i < sizeof(sent) / sizeof(*sent); ++i) {
        run(sent[i], sent[i] - 1);
        run(sent[i], sent[i] / 2);
        run(sent[i], 0);
    }
    waitall_names_the_failed();
    return test_end();
}
