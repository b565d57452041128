/* All send modes (blocking, synchronous, ready, buffered, their non-blocking and persistent
 * forms) around a ring, at sizes on both sides of the usual protocol switches, with all
 * functions that wait. */
#include "check.h"

static int next, previous;

static uint64_t seed_of(int sender, int mode, size_t size) {
    return (uint64_t)sender * 1000003 + (uint64_t)mode * 101 + size;
}

enum { mode_send, mode_ssend, mode_bsend, mode_rsend, mode_count };

static const struct {
    int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    int (*send_init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
} modes[mode_count] = {{MPI_Send, MPI_Isend, MPI_Send_init},
                       {MPI_Ssend, MPI_Issend, MPI_Ssend_init},
                       {MPI_Bsend, MPI_Ibsend, MPI_Bsend_init},
                       {MPI_Rsend, MPI_Irsend, MPI_Rsend_init}};

static void run_blocking(int mode, size_t size) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Request request;
    MPI_Status status;
    pattern_fill(out, size, seed_of(rank, mode, size));
    /* A ready send needs a posted receive. A synchronous ring would deadlock without it. */
    if (mode == mode_rsend || rank % 2 == 0) {
        MPI_OK(MPI_Irecv(in, (int)size, MPI_BYTE, previous, mode, MPI_COMM_WORLD, &request));
        if (mode == mode_rsend) MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(modes[mode].send(out, (int)size, MPI_BYTE, next, mode, MPI_COMM_WORLD));
        MPI_OK(MPI_Wait(&request, &status));
    } else {
        MPI_OK(MPI_Recv(in, (int)size, MPI_BYTE, previous, mode, MPI_COMM_WORLD, &status));
        MPI_OK(modes[mode].send(out, (int)size, MPI_BYTE, next, mode, MPI_COMM_WORLD));
    }
    check_status(&status, previous, mode, size);
    CHECK_PATTERN(in, size, seed_of(previous, mode, size));
    buffer_free(out);
    buffer_free(in);
}

/* Waits for both requests by one of five functions. */
static void complete_two(MPI_Request requests[2], MPI_Status statuses[2], int variant) {
    int flag = 0, index, done = 0, indices[2];
    MPI_Status some[2];
    switch (variant % 5) {
        case 0:
            MPI_OK(MPI_Waitall(2, requests, statuses));
            break;
        case 1:
            while (!flag)
                MPI_OK(MPI_Testall(2, requests, &flag, statuses));
            break;
        case 2:
            for (int i = 0; i < 2; ++i) {
                MPI_OK(MPI_Waitany(2, requests, &index, &some[0]));
                statuses[index] = some[0];
            }
            break;
        case 3:
            while (done < 2) {
                int count = 0;
                MPI_OK(MPI_Waitsome(2, requests, &count, indices, some));
                for (int i = 0; i < count; ++i)
                    statuses[indices[i]] = some[i];
                done += count;
            }
            break;
        default:
            for (int i = 0; i < 2; ++i)
                for (flag = 0; !flag;)
                    MPI_OK(MPI_Test(&requests[i], &flag, &statuses[i]));
            break;
    }
}

static void run_nonblocking(int mode, size_t size, int variant) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    pattern_fill(out, size, seed_of(rank, mode, size) + 7);
    MPI_OK(MPI_Irecv(in, (int)size, MPI_BYTE, previous, mode, MPI_COMM_WORLD, &requests[0]));
    if (mode == mode_rsend) MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_OK(modes[mode].isend(out, (int)size, MPI_BYTE, next, mode, MPI_COMM_WORLD, &requests[1]));
    complete_two(requests, statuses, variant);
    check_status(&statuses[0], previous, mode, size);
    CHECK_PATTERN(in, size, seed_of(previous, mode, size) + 7);
    buffer_free(out);
    buffer_free(in);
}

static void run_persistent(int mode, size_t size) {
    enum { rounds = 3 };
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_OK(MPI_Recv_init(in, (int)size, MPI_BYTE, previous, mode, MPI_COMM_WORLD, &requests[0]));
    MPI_OK(
        modes[mode].send_init(out, (int)size, MPI_BYTE, next, mode, MPI_COMM_WORLD, &requests[1]));
    for (unsigned round = 0; round < rounds; ++round) {
        pattern_fill(out, size, seed_of(rank, mode, size) + 11 + round);
        memset(in, untouched, size);
        if (mode == mode_rsend) {
            MPI_OK(MPI_Start(&requests[0]));
            MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
            MPI_OK(MPI_Start(&requests[1]));
        } else {
            MPI_OK(MPI_Startall(2, requests));
        }
        complete_two(requests, statuses, (int)round);
        check_status(&statuses[0], previous, mode, size);
        CHECK_PATTERN(in, size, seed_of(previous, mode, size) + 11 + round);
    }
    MPI_OK(MPI_Request_free(&requests[0]));
    MPI_OK(MPI_Request_free(&requests[1]));
    buffer_free(out);
    buffer_free(in);
}

static void run_sendrecv(size_t size) {
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_Status status;
    pattern_fill(out, size, seed_of(rank, 50, size));
    MPI_OK(MPI_Sendrecv(out, (int)size, MPI_BYTE, next, 50, in, (int)size, MPI_BYTE, previous, 50,
                        MPI_COMM_WORLD, &status));
    check_status(&status, previous, 50, size);
    CHECK_PATTERN(in, size, seed_of(previous, 50, size));
    MPI_OK(MPI_Sendrecv_replace(out, (int)size, MPI_BYTE, next, 51, previous, 51, MPI_COMM_WORLD,
                                &status));
    check_status(&status, previous, 51, size);
    CHECK_PATTERN(out, size, seed_of(previous, 50, size));
    buffer_free(out);
    buffer_free(in);
}

/* A synchronous send must not complete while its receive is not posted. */
static void synchronous_waits_for_match(size_t size) {
    enum { tag_data = 60, tag_go = 61, looks = 200 };
    if (rank > 1) return;
    unsigned char* data = buffer_new(size);
    if (rank == 0) {
        MPI_Request request;
        int flag = 0;
        pattern_fill(data, size, size);
        MPI_OK(MPI_Issend(data, (int)size, MPI_BYTE, 1, tag_data, MPI_COMM_WORLD, &request));
        for (int i = 0; i < looks; ++i) {
            MPI_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "complete although no rank receives (size %zu)", size);
        }
        MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, tag_go, MPI_COMM_WORLD));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Recv(data, (int)size, MPI_BYTE, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, size, size);
    }
    buffer_free(data);
}

int main(int argc, char** argv) {
    static const size_t sizes[] = {0,     1,     7,      8,      63,           64,    255,
                                   1000,  4095,  8191,   8192,   8193,         16385, 65535,
                                   65536, 65537, 100001, 262144, (1 << 20) + 3};
    /* A sender may be ahead of its receiver by all buffered sends of one size, which are five.
     * Twice as many cover those that were received but whose buffers are not released yet. */
    enum { size_count = sizeof(sizes) / sizeof(*sizes), attached = 10 * ((1 << 20) + 8192) };
    test_begin(&argc, &argv, "p2p_modes", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    void* space = malloc(attached);
    int attached_size = 0;
    MPI_OK(MPI_Buffer_attach(space, attached));
    for (int i = 0; i < size_count; ++i) {
        for (int mode = 0; mode < mode_count; ++mode) {
            run_blocking(mode, sizes[i]);
            run_nonblocking(mode, sizes[i], i + mode);
            run_persistent(mode, sizes[i]);
        }
        run_sendrecv(sizes[i]);
        synchronous_waits_for_match(sizes[i]);
    }
    MPI_OK(MPI_Buffer_detach(&space, &attached_size));
    CHECK(attached_size == attached, "detached %d bytes", attached_size);
    free(space);
    return test_end();
}
