/*
 * Messages of a rank to itself, on MPI_COMM_SELF and on MPI_COMM_WORLD: all modes, expected and
 * unexpected, probes, a strided type, cancel, truncation, and many at once.
 */
#include "check.h"

static void both_orders(MPI_Comm comm, int me, size_t size) {
    for (int posted_first = 0; posted_first < 2; ++posted_first) {
        unsigned char *out = buffer_new(size), *in = buffer_new(size);
        MPI_Request requests[2];
        MPI_Status statuses[2];
        pattern_fill(out, size, size + 3);
        for (int step = 0; step < 2; ++step) {
            if ((step == 0) == posted_first)
                MPI_OK(MPI_Irecv(in, (int)size, MPI_BYTE, me, 1, comm, &requests[0]));
            else
                MPI_OK(MPI_Isend(out, (int)size, MPI_BYTE, me, 1, comm, &requests[1]));
        }
        MPI_OK(MPI_Waitall(2, requests, statuses));
        check_status(&statuses[0], me, 1, size);
        CHECK_PATTERN(in, size, size + 3);
        buffer_free(out);
        buffer_free(in);
    }
}

static void synchronous(MPI_Comm comm, int me, size_t size) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Request request;
    int flag = 0;
    pattern_fill(out, size, size + 5);
    MPI_OK(MPI_Issend(out, (int)size, MPI_BYTE, me, 2, comm, &request));
    for (int i = 0; i < 100; ++i) {
        MPI_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "a synchronous send to itself ended without a receive");
    }
    MPI_OK(MPI_Recv(in, (int)size, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, size, size + 5);
    buffer_free(out);
    buffer_free(in);
}

static void probed(MPI_Comm comm, int me, size_t size) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int count;
    pattern_fill(out, size, size + 9);
    MPI_OK(MPI_Isend(out, (int)size, MPI_BYTE, me, 3, comm, &request));
    MPI_OK(MPI_Mprobe(me, MPI_ANY_TAG, comm, &message, &status));
    MPI_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK((size_t)count == size, "count %d", count);
    MPI_OK(MPI_Mrecv(in, count, MPI_BYTE, &message, &status));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, size, size + 9);
    buffer_free(out);
    buffer_free(in);
}

/* Packed bytes are sent into every third byte, and back. */
static void strided(MPI_Comm comm, int me, size_t size) {
    unsigned char *out = buffer_new(size), *wide = buffer_new(3 * size), *back = buffer_new(size);
    MPI_Datatype every_third = vector_type_new((int)size, 1, 3, MPI_BYTE);
    pattern_fill(out, size, size);
    MPI_OK(MPI_Sendrecv(out, (int)size, MPI_BYTE, me, 4, wide, 1, every_third, me, 4, comm,
                        MPI_STATUS_IGNORE));
    for (size_t i = 0; i < 3 * size; ++i)
        if (wide[i] != (i % 3 == 0 ? out[i / 3] : untouched)) CHECK(0, "byte %zu", i);
    MPI_OK(MPI_Sendrecv(wide, 1, every_third, me, 4, back, (int)size, MPI_BYTE, me, 4, comm,
                        MPI_STATUS_IGNORE));
    CHECK_PATTERN(back, size, size);
    MPI_OK(MPI_Type_free(&every_third));
    buffer_free(out);
    buffer_free(wide);
    buffer_free(back);
}

static void truncated(MPI_Comm comm, int me, size_t size) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size / 2);
    MPI_Request request;
    MPI_OK(MPI_Irecv(in, (int)(size / 2), MPI_BYTE, me, 5, comm, &request));
    MPI_Request send;
    MPI_OK(MPI_Isend(out, (int)size, MPI_BYTE, me, 5, comm, &send));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_OK(MPI_Error_class(code, &code));
    CHECK(code == MPI_ERR_TRUNCATE, "code %d for %zu bytes", code, size);
    MPI_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    buffer_free(out);
    buffer_free(in);
}

static void many(MPI_Comm comm, int me) {
    enum { count = 2000 };
    static int out[count], in[count];
    static MPI_Request requests[2 * count];
    for (int i = 0; i < count; ++i) {
        out[i] = i * 3 + 1;
        MPI_OK(MPI_Isend(&out[i], 1, MPI_INT, me, 6, comm, &requests[i]));
    }
    for (int i = 0; i < count; ++i)
        MPI_OK(MPI_Irecv(&in[i], 1, MPI_INT, me, 6, comm, &requests[count + i]));
    MPI_OK(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; ++i)
        CHECK(in[i] == i * 3 + 1, "message %d", i);
}

int main(int argc, char** argv) {
    static const size_t sizes[] = {0, 1, 8, 100, 4096, 8193, 65536, 500000, 4 << 20, 16 << 20};
    test_begin(&argc, &argv, "self_messages", MPI_THREAD_SINGLE);
    const MPI_Comm comms[2] = {MPI_COMM_SELF, MPI_COMM_WORLD};
    for (int c = 0; c < 2; ++c) {
        const int me = c == 0 ? 0 : rank;
        MPI_OK(MPI_Comm_set_errhandler(comms[c], MPI_ERRORS_RETURN));
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
            both_orders(comms[c], me, sizes[i]);
            synchronous(comms[c], me, sizes[i]);
            probed(comms[c], me, sizes[i]);
            if (sizes[i] > 0 && sizes[i] <= 500000) strided(comms[c], me, sizes[i]);
            if (sizes[i] > 0) truncated(comms[c], me, sizes[i]);
        }
        many(comms[c], me);
    }
    return test_end();
}
