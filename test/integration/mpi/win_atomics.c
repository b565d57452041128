/* Accumulate, get_accumulate, fetch_and_op and compare_and_swap: each operation and type is
 * compared with a local computation of the same steps. Then all ranks access the same elements
 * at once. */
#include "window.h"

/* The element of rank `from` at index i: small, so that sums and products of all ranks are
 * exact. */
static long element(int from, int i) {
    return 1 + (from * 7 + i * 3) % 5;
}

static long combined(MPI_Op op, long a, long b) {
    if (op == MPI_SUM) return a + b;
    if (op == MPI_PROD) return a * b;
    if (op == MPI_MAX) return a > b ? a : b;
    if (op == MPI_MIN) return a < b ? a : b;
    if (op == MPI_BAND) return a & b;
    if (op == MPI_BOR) return a | b;
    if (op == MPI_BXOR) return a ^ b;
    CHECK(0, "an operation without a model");
    return 0;
}

/* clang-format off */
#define TYPES(apply)                                                                            \
    apply(int8_t, MPI_INT8_T, 1) apply(int16_t, MPI_INT16_T, 1) apply(int32_t, MPI_INT32_T, 1)  \
    apply(int64_t, MPI_INT64_T, 1) apply(uint32_t, MPI_UINT32_T, 1)                             \
    apply(uint64_t, MPI_UINT64_T, 1) apply(float, MPI_FLOAT, 0) apply(double, MPI_DOUBLE, 0)
/* clang-format on */

enum step { prepare, accumulate, compare };

/* Every rank accumulates `count` elements of each type into rank 0. The operations commute, so
 * the result does not depend on the order of the ranks. */
#define ACCUMULATE(type, mpi_type, bits)                                                       \
    static size_t accumulate_##type(struct window* w, size_t place, enum step step, MPI_Op op, \
                                    int count) {                                               \
        static type values[100];                                                               \
        type* position = (type*)(void*)(w->memory + place);                                    \
        for (int i = 0; i < count; ++i) {                                                      \
            long want = i % 3;                                                                 \
            if (step == prepare) values[i] = (type)element(rank, i);                           \
            if (step == prepare) position[i] = (type)want;                                     \
            for (int from = 0; from < ranks; ++from)                                           \
                want = combined(op, want, element(from, i));                                   \
            if (step == compare)                                                               \
                CHECK(position[i] == (type)want, #type " %d is %g, not %ld", i,                \
                      (double)position[i], want);                                              \
        }                                                                                      \
        if (step == accumulate)                                                                \
            MPI_OK(MPI_Accumulate(values, count, mpi_type, 0, window_at(w, 0, place), count,   \
                                  mpi_type, op, w->win));                                      \
        return place + 1024;                                                                   \
    }
TYPES(ACCUMULATE)

static void for_each_type(struct window* w, enum step step, MPI_Op op, int on_bits, int count) {
    size_t place = 0;
#define CALL(type, mpi_type, bits) \
    if (bits || !on_bits) place = accumulate_##type(w, place, step, op, count);
    TYPES(CALL)
}

static void accumulate_all(struct window* w) {
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR};
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); ++i) {
        const int on_bits = i >= 4, count = i % 2 == 0 ? 1 : 100;
        for_each_type(w, prepare, ops[i], on_bits, count);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        for_each_type(w, accumulate, ops[i], on_bits, count);
        MPI_OK(MPI_Win_unlock(0, w->win));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank != 0) continue;
        MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        for_each_type(w, compare, ops[i], on_bits, count);
        MPI_OK(MPI_Win_unlock(0, w->win));
    }
}

/* The result buffers of all get_accumulate calls form a chain of partial sums. */
static void tickets(struct window* w) {
    enum { each = 10 };
    int64_t own[each], all[64 * each], one = 1;
    CHECK(ranks <= 64, "too many ranks");
    if (rank == 0) memset(w->memory, 0, 16);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < each; ++i) {
        if (i % 2 == 0)
            MPI_OK(MPI_Fetch_and_op(&one, &own[i], MPI_INT64_T, 0, window_at(w, 0, 0), MPI_SUM,
                                    w->win));
        else
            MPI_OK(MPI_Get_accumulate(&one, 1, MPI_INT64_T, &own[i], 1, MPI_INT64_T, 0,
                                      window_at(w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w->win));
        MPI_OK(MPI_Win_flush(0, w->win));
        CHECK(i == 0 || own[i] > own[i - 1], "ticket %ld after %ld", (long)own[i],
              (long)own[i - 1]);
    }
    MPI_OK(MPI_Win_unlock_all(w->win));
    MPI_OK(MPI_Allgather(own, each, MPI_INT64_T, all, each, MPI_INT64_T, MPI_COMM_WORLD));
    int given[64 * each] = {0};
    for (int i = 0; i < ranks * each; ++i) {
        CHECK(all[i] >= 0 && all[i] < ranks * each, "ticket %ld was never there", (long)all[i]);
        ++given[all[i]];
    }
    for (int i = 0; i < ranks * each; ++i)
        CHECK(given[i] == 1, "ticket %d was given %d times", i, given[i]);
}

/* All ranks count by compare-and-swap, repeated until it succeeds. */
#define COUNT(type, mpi_type)                                                                      \
    static void count_##type(struct window* w) {                                                   \
        enum { each = 5 };                                                                         \
        if (rank == 0) memset(w->memory, 0, 16);                                                   \
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));                                                       \
        MPI_OK(MPI_Win_lock_all(0, w->win));                                                       \
        type expected = 0, found;                                                                  \
        for (int i = 0; i < each;) {                                                               \
            type more = (type)(expected + 1);                                                      \
            found = (type)-1;                                                                      \
            MPI_OK(MPI_Compare_and_swap(&more, &expected, &found, mpi_type, 0, window_at(w, 0, 8), \
                                        w->win));                                                  \
            MPI_OK(MPI_Win_flush(0, w->win));                                                      \
            CHECK(found >= 0 && found <= ranks * each, #type " was %ld", (long)found);             \
            if (found == expected) ++i;                                                            \
            expected = found == expected ? more : found;                                           \
        }                                                                                          \
        MPI_OK(MPI_Win_unlock_all(w->win));                                                        \
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));                                                       \
        if (rank == 0) {                                                                           \
            MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));                                   \
            memcpy(&found, w->memory + 8, sizeof(found));                                          \
            CHECK(found == ranks * each, #type ": %ld counted", (long)found);                      \
            for (size_t i = 8 + sizeof(found); i < 16; ++i)                                        \
                CHECK(w->memory[i] == 0, "byte %zu behind the number was changed", i);             \
            MPI_OK(MPI_Win_unlock(0, w->win));                                                     \
        }                                                                                          \
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));                                                       \
    }
COUNT(int32_t, MPI_INT32_T)
COUNT(int64_t, MPI_INT64_T)

/* Operations of one rank on one element keep their order, and each fetches the previous value. */
static void in_order(struct window* w) {
    enum { count = 8 };
    const size_t offset = 64 + (size_t)rank * 8;
    int64_t values[count], seen[count], last = -1, none = 0, start = -5;
    MPI_OK(MPI_Win_lock_all(0, w->win));
    MPI_OK(MPI_Accumulate(&start, 1, MPI_INT64_T, next, window_at(w, next, offset), 1, MPI_INT64_T,
                          MPI_REPLACE, w->win));
    for (int i = 0; i < count; ++i) {
        values[i] = 1000 * rank + i;
        MPI_OK(MPI_Get_accumulate(&values[i], 1, MPI_INT64_T, &seen[i], 1, MPI_INT64_T, next,
                                  window_at(w, next, offset), 1, MPI_INT64_T, MPI_REPLACE, w->win));
    }
    MPI_OK(MPI_Fetch_and_op(&none, &last, MPI_INT64_T, next, window_at(w, next, offset), MPI_NO_OP,
                            w->win));
    MPI_OK(MPI_Win_flush_local(next, w->win));
    CHECK(last == values[count - 1], "the last is %ld", (long)last);
    for (int i = 0; i < count; ++i)
        CHECK(seen[i] == (i == 0 ? start : values[i - 1]), "number %d saw %ld", i, (long)seen[i]);
    MPI_OK(MPI_Win_unlock_all(w->win));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Every second element, by a derived datatype on both sides; the previous values are fetched. */
static void strided(struct window* w) {
    enum { count = 40 };
    int32_t values[2 * count], before[2 * count], *elements = (int32_t*)(void*)w->memory;
    MPI_Datatype every_second = vector_type_new(count, 1, 2, MPI_INT32_T);
    for (int i = 0; i < 2 * count; ++i) {
        values[i] = 1000 * rank + i;
        before[i] = -1;
        elements[i] = 7 * i + rank;
    }
    MPI_OK(MPI_Win_fence(0, w->win));
    MPI_OK(MPI_Get_accumulate(values, 1, every_second, before, 1, every_second, next,
                              window_at(w, next, 0), 1, every_second, MPI_SUM, w->win));
    MPI_OK(MPI_Win_fence(0, w->win));
    MPI_OK(MPI_Accumulate(values, count, MPI_INT32_T, next, window_at(w, next, 4), 1, every_second,
                          MPI_REPLACE, w->win));
    MPI_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 2 * count; ++i) {
        const int even = i % 2 == 0;
        const int32_t want = even ? 7 * i + rank + 1000 * previous + i : 1000 * previous + i / 2;
        CHECK(elements[i] == want, "element %d is %d, not %d", i, elements[i], want);
        CHECK(before[i] == (even ? 7 * i + next : -1), "element %d was %d", i, before[i]);
    }
    MPI_OK(MPI_Type_free(&every_second));
}

/* Pairs: the largest value and its rank. MPI_DOUBLE_INT is not used: Open MPI 4.1 allocates its
 * copy of the target by the type's bytes without the gap at its end, and writes behind it, with
 * any library (seen on ours and on OpenUCX 1.13). */
static void location_of_the_largest(struct window* w) {
    struct pair {
        int value, index;
    } own[3], *elements = (struct pair*)(void*)w->memory;
    for (int i = 0; i < 3; ++i) {
        elements[i].value = -1;
        elements[i].index = -1;
        own[i].value = (rank + i) % ranks;
        own[i].index = rank;
    }
    MPI_OK(MPI_Win_fence(0, w->win));
    MPI_OK(
        MPI_Accumulate(own, 3, MPI_2INT, 0, window_at(w, 0, 0), 3, MPI_2INT, MPI_MAXLOC, w->win));
    MPI_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 3 && rank == 0; ++i) {
        const int owner = (2 * ranks - 1 - i) % ranks;
        CHECK(elements[i].value == ranks - 1 && elements[i].index == owner, "pair %d is %d of %d",
              i, elements[i].value, elements[i].index);
    }
    MPI_OK(MPI_Win_fence(0, w->win));
}

int main(int argc, char** argv) {
    window_begin(&argc, &argv, "win_atomics");
    for (enum flavor flavor = 0; flavor < flavors; ++flavor) {
        struct window w = window_new(flavor, 8192);
        accumulate_all(&w);
        tickets(&w);
        count_int32_t(&w);
        count_int64_t(&w);
        in_order(&w);
        strided(&w);
        location_of_the_largest(&w);
        window_free(&w);
    }
    return test_end();
}
