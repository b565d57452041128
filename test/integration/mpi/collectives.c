/*
 * Every basic collective, blocking and non-blocking, in place too, from every root, at counts that
 * make Open MPI's tuned component change its algorithm; results are compared with closed formulas.
 */

#include "check.h"

static bool nonblocking;

/* Runs MPI_<Name>, or MPI_I<name> and a wait, depending on the round. */
#define COLLECTIVE(Name, iname, ...)                        \
    do {                                                    \
        MPI_Request request_;                               \
        if (nonblocking) {                                  \
            MPI_OK(MPI_I##iname(__VA_ARGS__, &request_));   \
            MPI_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE)); \
        } else {                                            \
            MPI_OK(MPI_##Name(__VA_ARGS__));                \
        }                                                   \
    } while (0)

static int64_t value_of(int owner, int target, size_t i) {
    return (int64_t)(pattern_word((uint64_t)owner * 64 + (uint64_t)target, i) >> 24);
}

static int64_t* vector_new(size_t n) {
    return (int64_t*)(void*)buffer_new(n * sizeof(int64_t));
}

static void vector_free(int64_t* data) {
    buffer_free((unsigned char*)data);
}

static void fill(int64_t* data, size_t n, int owner, int target) {
    for (size_t i = 0; i < n; ++i)
        data[i] = value_of(owner, target, i);
}

#define CHECK_VECTOR(data, n, expression)                                                       \
    for (size_t i = 0; i < (n); ++i)                                                            \
        if ((data)[i] != (expression))                                                          \
            CHECK(false, "element %zu of %zu (non-blocking: %d)", i, (size_t)(n), nonblocking); \
    CHECK(true, "%s", "")

static int64_t sum_of(int first, int last, int target, size_t i) {
    int64_t sum = 0;
    for (int r = first; r <= last; ++r)
        sum += value_of(r, target, i);
    return sum;
}

static void test_barrier(void) {
    for (int i = 0; i < 20; ++i)
        COLLECTIVE(Barrier, barrier, MPI_COMM_WORLD);
}

static void test_bcast(size_t n, int root) {
    int64_t* data = vector_new(n);
    if (rank == root) fill(data, n, root, 1);
    COLLECTIVE(Bcast, bcast, data, (int)n, MPI_INT64_T, root, MPI_COMM_WORLD);
    CHECK_VECTOR(data, n, value_of(root, 1, i));
    vector_free(data);
}

static void test_reduce(size_t n, int root) {
    int64_t *in = vector_new(n), *out = vector_new(n);
    fill(in, n, rank, 0);
    COLLECTIVE(Reduce, reduce, in, rank == root ? out : NULL, (int)n, MPI_INT64_T, MPI_SUM, root,
               MPI_COMM_WORLD);
    if (rank == root) {
        CHECK_VECTOR(out, n, sum_of(0, ranks - 1, 0, i));
    }
    fill(out, n, rank, 0);
    if (rank == root)
        COLLECTIVE(Reduce, reduce, MPI_IN_PLACE, out, (int)n, MPI_INT64_T, MPI_SUM, root,
                   MPI_COMM_WORLD);
    else
        COLLECTIVE(Reduce, reduce, out, NULL, (int)n, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root) {
        CHECK_VECTOR(out, n, sum_of(0, ranks - 1, 0, i));
    }
    vector_free(in);
    vector_free(out);
}

/* x -> a x + b over 32 bits: associative, not commutative, so a wrong order of ranks shows. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    const uint32_t* first = in;
    uint32_t* second = inout;
    (void)type;
    for (int i = 0; i < *count; ++i) {
        const uint32_t a = first[2 * i], b = first[2 * i + 1];
        second[2 * i + 1] += second[2 * i] * b;
        second[2 * i] *= a;
    }
}

static void affine_of(int owner, size_t i, uint32_t out[2]) {
    const uint64_t word = pattern_word((uint64_t)owner + 900, i);
    out[0] = (uint32_t)word | 1;
    out[1] = (uint32_t)(word >> 32);
}

static void test_noncommutative(size_t n) {
    MPI_Datatype pair;
    MPI_Op op;
    uint32_t* in = (uint32_t*)(void*)buffer_new(n * 8);
    uint32_t* out = (uint32_t*)(void*)buffer_new(n * 8);
    MPI_OK(MPI_Type_contiguous(2, MPI_UINT32_T, &pair));
    MPI_OK(MPI_Type_commit(&pair));
    MPI_OK(MPI_Op_create(compose, 0, &op));
    for (size_t i = 0; i < n; ++i)
        affine_of(rank, i, in + 2 * i);
    COLLECTIVE(Allreduce, allreduce, in, out, (int)n, pair, op, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        uint32_t want[2] = {1, 0}, next[2];
        for (int r = 0; r < ranks; ++r) {
            affine_of(r, i, next);
            want[1] = next[1] + next[0] * want[1];
            want[0] *= next[0];
        }
        if (out[2 * i] != want[0] || out[2 * i + 1] != want[1]) CHECK(false, "pair %zu", i);
    }
    MPI_OK(MPI_Op_free(&op));
    MPI_OK(MPI_Type_free(&pair));
    buffer_free((unsigned char*)in);
    buffer_free((unsigned char*)out);
}

static void test_allreduce(size_t n) {
    int64_t *in = vector_new(n), *out = vector_new(n);
    fill(in, n, rank, 2);
    COLLECTIVE(Allreduce, allreduce, in, out, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_VECTOR(out, n, sum_of(0, ranks - 1, 2, i));
    COLLECTIVE(Allreduce, allreduce, MPI_IN_PLACE, in, (int)n, MPI_INT64_T, MPI_MAX,
               MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        int64_t want = value_of(0, 2, i);
        for (int r = 1; r < ranks; ++r)
            if (value_of(r, 2, i) > want) want = value_of(r, 2, i);
        if (in[i] != want) CHECK(false, "maximum %zu of %zu", i, n);
    }
    vector_free(in);
    vector_free(out);
}

static void test_scans(size_t n) {
    int64_t *in = vector_new(n), *out = vector_new(n);
    fill(in, n, rank, 3);
    COLLECTIVE(Scan, scan, in, out, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_VECTOR(out, n, sum_of(0, rank, 3, i));
    COLLECTIVE(Exscan, exscan, in, out, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0) {
        CHECK_VECTOR(out, n, sum_of(0, rank - 1, 3, i));
    }
    COLLECTIVE(Scan, scan, MPI_IN_PLACE, in, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_VECTOR(in, n, sum_of(0, rank, 3, i));
    vector_free(in);
    vector_free(out);
}

/* Block sizes for the v-variants: rank r has n + r % 3 elements, and none when n is 0 and r % 3 is
 * 0. */
static size_t lay_out(size_t n, int* counts, int* places) {
    size_t total = 0;
    for (int r = 0; r < ranks; ++r) {
        counts[r] = (int)n + r % 3;
        places[r] = (int)total;
        total += (size_t)counts[r] + 1;
    }
    return total;
}

/* Blocks of equal length in rank order. */
static void check_equal_blocks(const int64_t* data, size_t n, int target) {
    for (int r = 0; r < ranks; ++r) {
        CHECK_VECTOR(data + (size_t)r * n, n, value_of(r, target, i));
    }
}

/* Blocks in rank order, with the one-element gaps of lay_out untouched. */
static void check_blocks(const int64_t* data, const int* counts, const int* places, int target) {
    int64_t gap;
    memset(&gap, untouched, sizeof(gap));
    for (int r = 0; r < ranks; ++r) {
        const int64_t* block = data + places[r];
        CHECK_VECTOR(block, (size_t)counts[r], value_of(r, target, i));
        CHECK(block[counts[r]] == gap, "the gap behind block %d was written", r);
    }
}

static void test_gathers(size_t n, int root) {
    int counts[64], places[64];
    const size_t total = lay_out(n, counts, places), own = (size_t)counts[rank];
    int64_t *in = vector_new(own), *all = vector_new(n * (size_t)ranks), *wide = vector_new(total);
    fill(in, own, rank, 4);
    COLLECTIVE(Gather, gather, in, (int)n, MPI_INT64_T, all, (int)n, MPI_INT64_T, root,
               MPI_COMM_WORLD);
    if (rank == root) check_equal_blocks(all, n, 4);
    COLLECTIVE(Gatherv, gatherv, in, (int)own, MPI_INT64_T, wide, counts, places, MPI_INT64_T, root,
               MPI_COMM_WORLD);
    if (rank == root) check_blocks(wide, counts, places, 4);
    memset(wide, untouched, total * sizeof(int64_t));
    COLLECTIVE(Allgatherv, allgatherv, in, (int)own, MPI_INT64_T, wide, counts, places, MPI_INT64_T,
               MPI_COMM_WORLD);
    check_blocks(wide, counts, places, 4);
    memset(all, untouched, n * (size_t)ranks * sizeof(int64_t));
    fill(all + (size_t)rank * n, n, rank, 4);
    COLLECTIVE(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, (int)n, MPI_INT64_T,
               MPI_COMM_WORLD);
    check_equal_blocks(all, n, 4);
    vector_free(in);
    vector_free(all);
    vector_free(wide);
}

static void test_scatters(size_t n, int root) {
    int counts[64], places[64];
    const size_t total = lay_out(n, counts, places), own = (size_t)counts[rank];
    int64_t *wide = vector_new(total), *all = vector_new(n * (size_t)ranks), *out = vector_new(own);
    for (int r = 0; r < ranks; ++r) {
        fill(wide + places[r], (size_t)counts[r], root, r);
        fill(all + (size_t)r * n, n, root, r);
    }
    COLLECTIVE(Scatter, scatter, all, (int)n, MPI_INT64_T, out, (int)n, MPI_INT64_T, root,
               MPI_COMM_WORLD);
    CHECK_VECTOR(out, n, value_of(root, rank, i));
    memset(out, untouched, own * sizeof(int64_t));
    COLLECTIVE(Scatterv, scatterv, wide, counts, places, MPI_INT64_T, out, (int)own, MPI_INT64_T,
               root, MPI_COMM_WORLD);
    CHECK_VECTOR(out, own, value_of(root, rank, i));
    vector_free(wide);
    vector_free(all);
    vector_free(out);
}

static void test_alltoall(size_t n) {
    int64_t *in = vector_new(n * (size_t)ranks), *out = vector_new(n * (size_t)ranks);
    for (int r = 0; r < ranks; ++r)
        fill(in + (size_t)r * n, n, rank, r);
    COLLECTIVE(Alltoall, alltoall, in, (int)n, MPI_INT64_T, out, (int)n, MPI_INT64_T,
               MPI_COMM_WORLD);
    check_equal_blocks(out, n, rank);
    COLLECTIVE(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, (int)n, MPI_INT64_T,
               MPI_COMM_WORLD);
    check_equal_blocks(in, n, rank);
    vector_free(in);
    vector_free(out);
}

/* Block between two ranks: as many elements as both agree on, different for each pair. */
static int pair_count(size_t n, int from, int to) {
    return (int)n + (from + 2 * to) % 4;
}

static void test_alltoallv(size_t n, bool with_types) {
    int out_counts[64], out_places[64], in_counts[64], in_places[64];
    MPI_Datatype types[64];
    size_t out_total = 0, in_total = 0;
    for (int r = 0; r < ranks; ++r) {
        out_counts[r] = pair_count(n, rank, r);
        in_counts[r] = pair_count(n, r, rank);
        out_places[r] = (int)out_total * (with_types ? 8 : 1);
        in_places[r] = (int)in_total * (with_types ? 8 : 1);
        out_total += (size_t)out_counts[r];
        in_total += (size_t)in_counts[r];
        types[r] = MPI_INT64_T;
    }
    int64_t *out = vector_new(out_total), *in = vector_new(in_total), *block = out;
    for (int r = 0; r < ranks; block += out_counts[r++])
        fill(block, (size_t)out_counts[r], rank, r);
    if (with_types)
        COLLECTIVE(Alltoallw, alltoallw, out, out_counts, out_places, types, in, in_counts,
                   in_places, types, MPI_COMM_WORLD);
    else
        COLLECTIVE(Alltoallv, alltoallv, out, out_counts, out_places, MPI_INT64_T, in, in_counts,
                   in_places, MPI_INT64_T, MPI_COMM_WORLD);
    block = in;
    for (int r = 0; r < ranks; block += in_counts[r++]) {
        CHECK_VECTOR(block, (size_t)in_counts[r], value_of(r, rank, i));
    }
    vector_free(out);
    vector_free(in);
}

static void test_reduce_scatter(size_t n) {
    int counts[64];
    size_t total = 0, before = 0;
    for (int r = 0; r < ranks; ++r) {
        counts[r] = (int)n + r % 3;
        if (r < rank) before += (size_t)counts[r];
        total += (size_t)counts[r];
    }
    const size_t own = (size_t)counts[rank];
    int64_t *in = vector_new(total), *out = vector_new(own);
    fill(in, total, rank, 5);
    COLLECTIVE(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT64_T, MPI_SUM,
               MPI_COMM_WORLD);
    CHECK_VECTOR(out, own, sum_of(0, ranks - 1, 5, before + i));
    COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, in, out, (int)n, MPI_INT64_T, MPI_SUM,
               MPI_COMM_WORLD);
    CHECK_VECTOR(out, n, sum_of(0, ranks - 1, 5, (size_t)rank * n + i));
    vector_free(in);
    vector_free(out);
}

static void run(size_t n) {
    for (int root = 0; root<ranks; root += ranks> 4 ? ranks - 1 : 1) {
        test_bcast(n, root);
        test_reduce(n, root);
        test_gathers(n, root);
        test_scatters(n, root);
    }
    test_allreduce(n);
    test_noncommutative(n);
    test_scans(n);
    test_alltoall(n);
    test_alltoallv(n, false);
    test_alltoallv(n, true);
    test_reduce_scatter(n);
}

int main(int argc, char** argv) {
    static const size_t counts[] = {0, 1, 5, 100, 1021, 12000, 70001};
    const size_t largest = (size_t)env_number("HAWSER_MPI_MAX_COUNT", 70001);
    test_begin(&argc, &argv, "collectives", MPI_THREAD_SINGLE);
    CHECK(ranks <= 64, "at most 64 ranks");
    for (int round = 0; round < 2; ++round) {
        nonblocking = round == 1;
        test_barrier();
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i)
            if (counts[i] <= largest && (counts[i] <= 12000 || ranks <= 4)) run(counts[i]);
    }
    return test_end();
}
