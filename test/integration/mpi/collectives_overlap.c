/* Many non-blocking collectives in flight at once, on one communicator and on several, with
 * point-to-point messages between them. They complete in another order than they were started.
 * One test checks that a barrier blocks. */
#include "check.h"

enum { depth = 24, count = 700 };

struct operation {
    MPI_Request request;
    int kind, root;
    int64_t in[count], out[count], all[16 * 40];
};

static struct operation operations[depth];

static int64_t value_of(int owner, int index, int i) {
    return owner * 1000003L + index * 997L + i;
}

static void start(struct operation* op, int index, MPI_Comm comm) {
    op->kind = index % 5;
    op->root = index % ranks;
    for (int i = 0; i < count; ++i)
        op->in[i] = value_of(rank, index, i);
    switch (op->kind) {
        case 0:
            MPI_OK(MPI_Ibcast(op->in, count, MPI_INT64_T, op->root, comm, &op->request));
            break;
        case 1:
            MPI_OK(
                MPI_Iallreduce(op->in, op->out, count, MPI_INT64_T, MPI_SUM, comm, &op->request));
            break;
        case 2:
            MPI_OK(MPI_Iallgather(op->in, 40, MPI_INT64_T, op->all, 40, MPI_INT64_T, comm,
                                  &op->request));
            break;
        case 3:
            MPI_OK(MPI_Ialltoall(op->in, 40, MPI_INT64_T, op->all, 40, MPI_INT64_T, comm,
                                 &op->request));
            break;
        default:
            MPI_OK(MPI_Ireduce(op->in, op->out, count, MPI_INT64_T, MPI_MAX, op->root, comm,
                               &op->request));
            break;
    }
}

static int64_t expected_sum(int index, int i) {
    int64_t sum = 0;
    for (int r = 0; r < ranks; ++r)
        sum += value_of(r, index, i);
    return sum;
}

static void check(const struct operation* op, int index) {
    for (int i = 0; i < count; ++i) {
        if (op->kind == 0) CHECK(op->in[i] == value_of(op->root, index, i), "bcast %d", index);
        if (op->kind == 1) CHECK(op->out[i] == expected_sum(index, i), "allreduce %d", index);
        if (op->kind == 4 && rank == op->root)
            CHECK(op->out[i] == value_of(ranks - 1, index, i), "reduce %d", index);
    }
    for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < 40; ++i) {
            const int64_t got = op->all[r * 40 + i];
            if (op->kind == 2) CHECK(got == value_of(r, index, i), "allgather %d", index);
            if (op->kind == 3)
                CHECK(got == value_of(r, index, rank * 40 + i), "alltoall %d", index);
        }
}

static void in_flight(MPI_Comm* comms, int comm_count) {
    int message = rank, got = -1;
    MPI_Request point[2];
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (int i = 0; i < depth; ++i) {
        start(&operations[i], i, comms[i % comm_count]);
        if (i != depth / 2) continue;
        MPI_OK(MPI_Irecv(&got, 1, MPI_INT, previous, 3, comms[0], &point[0]));
        MPI_OK(MPI_Isend(&message, 1, MPI_INT, next, 3, comms[0], &point[1]));
    }
    MPI_OK(MPI_Waitall(2, point, MPI_STATUSES_IGNORE));
    CHECK(got == previous, "got %d from %d", got, previous);
    for (int i = depth - 1; i >= 0; --i) {
        MPI_OK(MPI_Wait(&operations[i].request, MPI_STATUS_IGNORE));
        check(&operations[i], i);
    }
}

/* Rank 0 enters last. The others test many times before, and no test may succeed. */
static void barrier_holds(void) {
    enum { looks = 100 };
    MPI_Request request;
    int flag = 0;
    if (rank == 0) {
        for (int r = 1; r < ranks; ++r)
            MPI_OK(MPI_Recv(NULL, 0, MPI_BYTE, r, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    } else {
        MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        for (int i = 0; i < looks; ++i) {
            MPI_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "through the barrier before rank 0 came");
        }
        MPI_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD));
    }
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    test_begin(&argc, &argv, "collectives_overlap", MPI_THREAD_SINGLE);
    CHECK(ranks <= 16, "at most 16 ranks");
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    for (int round = 0; round < 10; ++round) {
        in_flight(comms, 1);
        in_flight(comms, 3);
        if (ranks > 1) barrier_holds();
    }
    MPI_OK(MPI_Comm_free(&comms[1]));
    MPI_OK(MPI_Comm_free(&comms[2]));
    return test_end();
}
