/*
 * Communicators split, duplicated, created from groups, cartesian, and between groups: messages of
 * one never reach another, collectives work on each, and hundreds can be made and freed.
 */
#include "check.h"

static void ring_on(MPI_Comm comm, uint64_t seed) {
    enum { size = 20000 };
    int me, n;
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_OK(MPI_Comm_rank(comm, &me));
    MPI_OK(MPI_Comm_size(comm, &n));
    pattern_fill(out, size, seed + (uint64_t)me);
    MPI_OK(MPI_Sendrecv(out, size, MPI_BYTE, (me + 1) % n, 1, in, size, MPI_BYTE, (me + n - 1) % n,
                        1, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, size, seed + (uint64_t)((me + n - 1) % n));
    buffer_free(out);
    buffer_free(in);
}

static void sum_on(MPI_Comm comm) {
    int n, sum = 0, one = 1;
    MPI_OK(MPI_Comm_size(comm, &n));
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == n, "sum %d on %d ranks", sum, n);
}

static void split_and_dup(void) {
    MPI_Comm parity, reversed, copy, node;
    int me, n;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity));
    ring_on(parity, 100);
    sum_on(parity);
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    MPI_OK(MPI_Comm_rank(reversed, &me));
    CHECK(me == ranks - 1 - rank, "rank %d in the reversed order", me);
    ring_on(reversed, 200);
    MPI_OK(MPI_Comm_dup(parity, &copy));
    ring_on(copy, 300);
    sum_on(copy);
    MPI_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_OK(MPI_Comm_size(node, &n));
    CHECK(n == ranks, "%d of %d ranks share memory", n, ranks);
    ring_on(node, 400);
    MPI_OK(MPI_Comm_free(&parity));
    MPI_OK(MPI_Comm_free(&reversed));
    MPI_OK(MPI_Comm_free(&copy));
    MPI_OK(MPI_Comm_free(&node));
}

static void undefined_colour(void) {
    MPI_Comm first;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : MPI_UNDEFINED, 0, &first));
    CHECK((first == MPI_COMM_NULL) == (rank != 0),
          "a rank that asked for no communicator gets none");
    if (first != MPI_COMM_NULL) MPI_OK(MPI_Comm_free(&first));
}

static void from_group(void) {
    MPI_Group world, some;
    MPI_Comm comm;
    int* members = malloc((size_t)ranks * sizeof(int));
    int n = 0;
    for (int r = ranks - 1; r >= 0; r -= 2)
        members[n++] = r;
    MPI_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI_OK(MPI_Group_incl(world, n, members, &some));
    if ((ranks - 1 - rank) % 2 == 0) {
        MPI_OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm));
        ring_on(comm, 500);
        MPI_OK(MPI_Comm_free(&comm));
    }
    MPI_OK(MPI_Group_free(&some));
    MPI_OK(MPI_Group_free(&world));
    free(members);
}

/* Same tag and same peers on several communicators, received in another order than sent. */
static void isolation(void) {
    enum { comm_count = 8, size = 3000 };
    MPI_Comm comms[comm_count];
    MPI_Request requests[comm_count];
    unsigned char* out[comm_count];
    unsigned char* in = buffer_new(size);
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (int c = 0; c < comm_count; ++c) {
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
        out[c] = buffer_new(size);
        pattern_fill(out[c], size, (uint64_t)(rank * comm_count + c));
        MPI_OK(MPI_Isend(out[c], size, MPI_BYTE, next, 9, comms[c], &requests[c]));
    }
    for (int c = comm_count - 1; c >= 0; --c) {
        MPI_OK(
            MPI_Recv(in, size, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, size, (uint64_t)(previous * comm_count + c));
    }
    MPI_OK(MPI_Waitall(comm_count, requests, MPI_STATUSES_IGNORE));
    for (int c = 0; c < comm_count; ++c) {
        buffer_free(out[c]);
        MPI_OK(MPI_Comm_free(&comms[c]));
    }
    buffer_free(in);
}

static void churn(void) {
    for (int i = 0; i < 200; ++i) {
        MPI_Comm comm;
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (i % 20 == 0) ring_on(comm, (uint64_t)i);
        MPI_OK(MPI_Comm_free(&comm));
    }
}

/* Even ranks on one side, odd ones on the other. */
static void between_groups(void) {
    MPI_Comm local, inter, merged;
    const int side = rank % 2;
    int me, others, sum = 0, value = rank, got = -1;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local));
    MPI_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 77, &inter));
    MPI_OK(MPI_Comm_rank(local, &me));
    MPI_OK(MPI_Comm_remote_size(inter, &others));
    CHECK(others == (side == 0 ? ranks / 2 : (ranks + 1) / 2), "%d ranks on the other side",
          others);
    if (me < others && me < ranks / 2) {
        MPI_OK(MPI_Sendrecv(&value, 1, MPI_INT, me, 3, &got, 1, MPI_INT, me, 3, inter,
                            MPI_STATUS_IGNORE));
        CHECK(got == (rank ^ 1), "got %d", got);
    }
    int want = 0;
    for (int r = 1 - side; r < ranks; r += 2)
        want += r;
    MPI_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == want, "sum of the other side %d, not %d", sum, want);
    int token = side == 0 && me == 0 ? 4242 : 0;
    const int root = side == 0 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    MPI_OK(MPI_Bcast(&token, 1, MPI_INT, root, inter));
    CHECK(token == 4242 || (side == 0 && me != 0), "token %d", token);
    MPI_OK(MPI_Barrier(inter));
    MPI_OK(MPI_Intercomm_merge(inter, side, &merged));
    sum_on(merged);
    ring_on(merged, 600);
    MPI_OK(MPI_Comm_free(&merged));
    MPI_OK(MPI_Comm_free(&inter));
    MPI_OK(MPI_Comm_free(&local));
}

static void torus(void) {
    int dims[2] = {0, 0}, periodic[2] = {1, 1}, me, out[4], in[4], from, to;
    MPI_Comm grid;
    MPI_OK(MPI_Dims_create(ranks, 2, dims));
    MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid));
    MPI_OK(MPI_Comm_rank(grid, &me));
    for (int i = 0; i < 4; ++i)
        out[i] = me * 10 + i;
    MPI_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid));
    for (int d = 0; d < 2; ++d) {
        MPI_OK(MPI_Cart_shift(grid, d, 1, &from, &to));
        CHECK(in[2 * d] / 10 == from && in[2 * d + 1] / 10 == to, "dimension %d", d);
    }
    MPI_OK(MPI_Comm_free(&grid));
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "communicators", MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    for (int round = 0; round < 3; ++round) {
        split_and_dup();
        undefined_colour();
        from_group();
        isolation();
        between_groups();
        torus();
    }
    churn();
    return test_end();
}
