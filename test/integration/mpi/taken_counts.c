/* Counts and types whose bytes overflow a number, or are negative: such calls must reach the MPI
 * unchanged. The program interposes itself between libucg_mpi and the MPI and does not forward
 * them, because the MPI's behaviour is undefined. It needs libucg_mpi. */

#include "check.h"

#define EXPORTED __attribute__((visibility("default")))

/* Calls that reached the MPI since `awaited` was set. */
static int awaited, came;

#define STAND_BEFORE(name, parameters, ...)                  \
    EXPORTED int PMPI_##name parameters {                    \
        int(*next) parameters;                               \
        void* const found = dlsym(RTLD_NEXT, "PMPI_" #name); \
        memcpy(&next, &found, sizeof(next));                 \
        came += awaited;                                     \
        return awaited ? MPI_SUCCESS : next(__VA_ARGS__);    \
    }

#define STAND_BEFORE_ALL(END, COUNT, PLACE)                                                        \
    STAND_BEFORE(Bcast##END, (void* b, COUNT n, MPI_Datatype t, int root, MPI_Comm c), b, n, t,    \
                 root, c)                                                                          \
    STAND_BEFORE(Allreduce##END,                                                                   \
                 (const void* in, void* out, COUNT n, MPI_Datatype t, MPI_Op op, MPI_Comm c), in,  \
                 out, n, t, op, c)                                                                 \
    STAND_BEFORE(Reduce_scatter_block##END,                                                        \
                 (const void* in, void* out, COUNT n, MPI_Datatype t, MPI_Op op, MPI_Comm c), in,  \
                 out, n, t, op, c)                                                                 \
    STAND_BEFORE(                                                                                  \
        Reduce_scatter##END,                                                                       \
        (const void* in, void* out, const COUNT* n, MPI_Datatype t, MPI_Op op, MPI_Comm c), in,    \
        out, n, t, op, c)                                                                          \
    STAND_BEFORE(                                                                                  \
        Allgather##END,                                                                            \
        (const void* in, COUNT n, MPI_Datatype t, void* out, COUNT m, MPI_Datatype u, MPI_Comm c), \
        in, n, t, out, m, u, c)                                                                    \
    STAND_BEFORE(                                                                                  \
        Alltoall##END,                                                                             \
        (const void* in, COUNT n, MPI_Datatype t, void* out, COUNT m, MPI_Datatype u, MPI_Comm c), \
        in, n, t, out, m, u, c)                                                                    \
    STAND_BEFORE(Allgatherv##END,                                                                  \
                 (const void* in, COUNT n, MPI_Datatype t, void* out, const COUNT* m,              \
                  const PLACE* displacements, MPI_Datatype u, MPI_Comm c),                         \
                 in, n, t, out, m, displacements, u, c)                                            \
    STAND_BEFORE(Alltoallv##END,                                                                   \
                 (const void* in, const COUNT* n, const PLACE* displacements, MPI_Datatype t,      \
                  void* out, const COUNT* m, const PLACE* to, MPI_Datatype u, MPI_Comm c),         \
                 in, n, displacements, t, out, m, to, u, c)

STAND_BEFORE_ALL(, int, int)
#if MPI_VERSION >= 4
STAND_BEFORE_ALL(_c, MPI_Count, MPI_Aint)
#endif

#define REACHES_THE_MPI(call)                       \
    do {                                            \
        came = 0;                                   \
        awaited = 1;                                \
        MPI_OK(call);                               \
        awaited = 0;                                \
        CHECK(came == 1, "it came %d times", came); \
    } while (0)

enum { most_ranks = 16 };
static char data[64];

static void too_few(void) {
    int counts[most_ranks] = {0}, places[most_ranks] = {0};
    counts[ranks - 1] = -1;
    REACHES_THE_MPI(MPI_Bcast(data, -1, MPI_BYTE, 0, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allreduce(data, data + 8, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Reduce_scatter_block(data, data + 8, INT_MIN, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Reduce_scatter(data, data + 8, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allgather(data, 1, MPI_INT, data + 8, -1, MPI_INT, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Alltoall(data, -1, MPI_INT, data + 8, 1, MPI_INT, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Allgatherv(data, 1, MPI_INT, data + 8, counts, places, MPI_INT, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Alltoallv(data, counts, places, MPI_INT, data + 8, places, places, MPI_INT,
                                  MPI_COMM_WORLD));
}

/* An element has 2^40 bytes, so 2^24 elements have 2^64, which overflows to 0. */
static void too_many(MPI_Datatype huge) {
    const int many = 1 << 24, few = 1 << 23;
    int counts[most_ranks], none[most_ranks], places[most_ranks];
    for (int r = 0; r < ranks; ++r) {
        counts[r] = few;
        none[r] = 0;
        places[r] = r * few;
    }
    REACHES_THE_MPI(MPI_Bcast(data, many, huge, 0, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allgather(data, few, huge, data, few, huge, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allgather(MPI_IN_PLACE, 0, huge, data, few, huge, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Alltoall(data, few, huge, data, few, huge, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allgatherv(data, few, huge, data, counts, places, huge, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Alltoallv(data, counts, places, huge, data, none, places, huge, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Alltoallv(data, none, places, huge, data, counts, places, huge, MPI_COMM_WORLD));
}

/* Only the displacement of one block is wrong. */
static void too_far(MPI_Datatype huge) {
    int counts[most_ranks] = {0}, places[most_ranks] = {0};
    counts[0] = 1;
    places[0] = INT_MIN;
    REACHES_THE_MPI(MPI_Alltoallv(data, counts, places, huge, data, places + 1, places + 1, huge,
                                  MPI_COMM_WORLD));
}

#if MPI_VERSION >= 4
static void large_counts(void) {
    const MPI_Count most = (MPI_Count)1 << 62;
    MPI_Count counts[most_ranks];
    MPI_Aint places[most_ranks] = {0};
    for (int r = 0; r < ranks; ++r)
        counts[r] = most;
    REACHES_THE_MPI(MPI_Bcast_c(data, most, MPI_INT, 0, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allreduce_c(data, data, most, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Reduce_scatter_block_c(data, data, most / 4 + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Reduce_scatter_c(data, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Allgather_c(data, most, MPI_BYTE, data, most, MPI_BYTE, MPI_COMM_WORLD));
    REACHES_THE_MPI(MPI_Alltoall_c(data, most, MPI_BYTE, data, 1, MPI_BYTE, MPI_COMM_WORLD));
    REACHES_THE_MPI(
        MPI_Allgatherv_c(data, 1, MPI_BYTE, data, counts, places, MPI_BYTE, MPI_COMM_WORLD));
}
#endif

/* The displacement of an empty block may have any value. */
static void nowhere(MPI_Datatype huge) {
    int in_counts[most_ranks], out_counts[most_ranks], places[most_ranks], got = -1;
    const int own = rank;
    for (int r = 0; r < ranks; ++r) {
        in_counts[r] = r == (rank + 1) % ranks;
        out_counts[r] = r == (rank + ranks - 1) % ranks;
        places[r] = INT_MAX;
    }
    places[(rank + 1) % ranks] = places[(rank + ranks - 1) % ranks] = 0;
    MPI_OK(MPI_Alltoallv(&own, in_counts, places, MPI_INT, &got, out_counts, places, MPI_INT,
                         MPI_COMM_WORLD));
    CHECK(got == (rank + ranks - 1) % ranks, "%d", got);
    for (int r = 0; r < ranks; ++r) {
        in_counts[r] = 0;
        places[r] = r % 2 == 0 ? INT_MAX : INT_MIN;
    }
    MPI_OK(MPI_Alltoallv(data, in_counts, places, huge, data, in_counts, places, huge,
                         MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
    MPI_Datatype large, huge;
    test_begin(&argc, &argv, "taken_counts", MPI_THREAD_SINGLE);
    CHECK(ranks > 1 && ranks <= most_ranks, "2 to %d ranks", most_ranks);
    MPI_OK(MPI_Type_contiguous(1 << 20, MPI_BYTE, &large));
    MPI_OK(MPI_Type_contiguous(1 << 20, large, &huge));
    MPI_OK(MPI_Type_commit(&huge));
    too_few();
    too_many(huge);
    too_far(huge);
#if MPI_VERSION >= 4
    large_counts();
#endif
    nowhere(huge);
    MPI_OK(MPI_Type_free(&huge));
    MPI_OK(MPI_Type_free(&large));
    return test_end();
}
