/*
 * Every power of two from 0 bytes to 256 MB with its neighbours, one way and both ways at once,
 * from aligned and unaligned buffers, between pairs of ranks. HAWSER_MPI_MAX_SIZE lowers the
 * largest size.
 */
#include "check.h"

static uint64_t seed_of(int sender, size_t size) {
    return (uint64_t)sender * 31 + size;
}

static void one_way(int peer, size_t size, size_t offset) {
    unsigned char* data = buffer_new_at(size, offset);
    if (rank < peer) {
        pattern_fill(data, size, seed_of(rank, size));
        MPI_OK(MPI_Send(data, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD));
        memset(data, untouched, size);
        MPI_OK(MPI_Recv(data, (int)size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, size, seed_of(peer, size));
    } else {
        MPI_OK(MPI_Recv(data, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, size, seed_of(peer, size));
        pattern_fill(data, size, seed_of(rank, size));
        MPI_OK(MPI_Send(data, (int)size, MPI_BYTE, peer, 2, MPI_COMM_WORLD));
    }
    buffer_free(data);
}

static void both_ways(int peer, size_t size, size_t offset) {
    unsigned char *out = buffer_new_at(size, offset), *in = buffer_new_at(size, 0);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count;
    pattern_fill(out, size, seed_of(rank, size) + 1);
    MPI_OK(MPI_Irecv(in, (int)size, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[0]));
    MPI_OK(MPI_Isend(out, (int)size, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[1]));
    MPI_OK(MPI_Waitall(2, requests, statuses));
    MPI_OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
    CHECK((size_t)count == size, "count %d, wanted %zu", count, size);
    CHECK_PATTERN(in, size, seed_of(peer, size) + 1);
    CHECK_PATTERN(out, size, seed_of(rank, size) + 1);
    buffer_free(out);
    buffer_free(in);
}

static void run(int peer, size_t size) {
    enum { megabyte = 1 << 20 };
    one_way(peer, size, 0);
    if (size <= 64 * (size_t)megabyte) both_ways(peer, size, size % 13);
    if (size <= 4 * (size_t)megabyte) one_way(peer, size, 1 + size % 7);
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "sizes", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    const int peer = rank ^ 1;
    const size_t largest =
        (size_t)env_number("HAWSER_MPI_MAX_SIZE", ranks == 2 ? 256L << 20 : 4L << 20);
    if (peer < ranks) {
        run(peer, 0);
        for (size_t size = 1; size <= largest; size *= 2) {
            if (size > 2) run(peer, size - 1);
            run(peer, size);
            if (size > 1 && size < largest) run(peer, size + 1);
        }
    }
    return test_end();
}
