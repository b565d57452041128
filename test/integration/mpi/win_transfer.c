/* Put and get on windows of each flavor: sizes around every change of protocol, derived
 * datatypes on both sides, requests, many operations in flight, own memory, windows without
 * memory. All bytes are compared, also those that must not change. */
#include "window.h"

static const size_t sizes[] = {0, 1, 8, 63, 64, 65, 1000, 8192, 8193, 65536, 300000, 1 << 20};
enum { largest = 1 << 20, size_count = sizeof(sizes) / sizeof(*sizes) };

static uint64_t seed_of(int from, size_t size) {
    return 1000 * (uint64_t)from + size;
}

/* All ranks write to the next rank and read from the one after it, between fences. */
static void fenced(struct window* w, size_t size, size_t offset) {
    unsigned char *out = buffer_new_at(size, 1), *in = buffer_new_at(size, 3);
    pattern_fill(out, size, seed_of(rank, size));
    memset(w->memory, untouched, w->size);
    MPI_OK(MPI_Win_fence(0, w->win));
    WINDOW_PUT(w, out, (int)size, MPI_BYTE, next, offset);
    MPI_OK(MPI_Win_fence(0, w->win));
    CHECK_PATTERN(w->memory + offset, size, seed_of(previous, size));
    if (offset > 0) CHECK(w->memory[offset - 1] == untouched, "the byte before was written");
    if (offset + size < w->size)
        CHECK(w->memory[offset + size] == untouched, "the byte behind was written");
    const int source = (rank + 2) % ranks, writer = (source + ranks - 1) % ranks;
    WINDOW_GET(w, in, (int)size, MPI_BYTE, source, offset);
    MPI_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, w->win));
    CHECK_PATTERN(in, size, seed_of(writer, size));
    buffer_free(out);
    buffer_free(in);
}

/* A column of a matrix of int goes into a row and into a column; the rest must not change. */
static void strided(struct window* w) {
    enum { rows = 200, columns = 7 };
    static int matrix[rows][columns], back[rows][columns];
    int* own = (int*)(void*)w->memory;
    MPI_Datatype column = vector_type_new(rows, 1, columns, MPI_INT);
    for (int i = 0; i < rows * columns; ++i) {
        matrix[i / columns][i % columns] = 10000 * rank + i;
        back[i / columns][i % columns] = -1;
    }
    memset(w->memory, untouched, w->size);
    int blank;
    memset(&blank, untouched, sizeof(blank));
    MPI_OK(MPI_Win_fence(0, w->win));
    WINDOW_PUT(w, &matrix[0][2], 1, column, next, 4);
    const size_t row = (rows * columns + 5) * sizeof(int);
    MPI_OK(MPI_Put(&matrix[0][3], 1, column, next, window_at(w, next, row), rows, MPI_INT, w->win));
    MPI_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < columns; ++k) {
            const int want = k == 1 ? 10000 * previous + i * columns + 2 : blank;
            const int is = own[i * columns + k];
            CHECK(is == want, "row %d column %d: %d, not %d", i, k, is, want);
        }
        const int is = own[rows * columns + 5 + i], want = 10000 * previous + i * columns + 3;
        CHECK(is == want, "element %d: %d, not %d", i, is, want);
    }
    WINDOW_GET(w, &back[0][5], 1, column, next, 4);
    MPI_OK(MPI_Get(&back[0][0], 1, column, next, window_at(w, next, row), rows, MPI_INT, w->win));
    MPI_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < rows * columns; ++i) {
        const int k = i % columns, from = i - k + (k == 5 ? 2 : 3);
        const int want = k == 5 || k == 0 ? 10000 * rank + from : -1, is = back[i / columns][k];
        CHECK(is == want, "element %d came back as %d, not %d", i, is, want);
    }
    MPI_OK(MPI_Type_free(&column));
}

/* Open MPI 4.1 looks up a request-based operation's memory at the address of its own state
 * instead of the given address, and unpacks a key from there (fixed in 5.0,
 * open-mpi/ompi#11095). Our library refuses that key. OpenUCX 1.13 ends with a segmentation
 * fault over shared memory, and passes mostly over tcp. */
static int request_based_works(enum flavor flavor) {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    return flavor != flavor_dynamic;
#else
    (void)flavor;
    return 1;
#endif
}

/* Request-based operations: each may end before the others, and its buffer is free from then on. */
static void by_request(struct window* w) {
    enum { count = 24, piece = 5000 };
    unsigned char *out[count], *in = buffer_new(count * piece);
    MPI_Request requests[count];
    MPI_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < count; ++i) {
        out[i] = buffer_new(piece);
        pattern_fill(out[i], piece, seed_of(rank, (size_t)i));
        MPI_OK(MPI_Rput(out[i], piece, MPI_BYTE, next, window_at(w, next, (size_t)i * piece), piece,
                        MPI_BYTE, w->win, &requests[i]));
    }
    for (int done = 0, index; done < count; ++done) {
        MPI_OK(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
        memset(out[index], 0, piece);
        buffer_free(out[index]);
    }
    MPI_OK(MPI_Win_flush(next, w->win));
    for (int i = 0; i < count; ++i)
        MPI_OK(MPI_Rget(in + i * piece, piece, MPI_BYTE, next,
                        window_at(w, next, (size_t)i * piece), piece, MPI_BYTE, w->win,
                        &requests[i]));
    MPI_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; ++i)
        CHECK_PATTERN(in + i * piece, piece, seed_of(rank, (size_t)i));
    MPI_OK(MPI_Win_unlock_all(w->win));
    buffer_free(in);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Many small operations in flight. Each rank accesses its own part of all ranks' memory, its own
 * included. */
static void many(struct window* w) {
    enum { count = 500 };
    static int32_t out[count], in[count];
    const size_t part = (size_t)rank * sizeof(out);
    MPI_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
    for (int target = 0; target < ranks; ++target) {
        for (int i = 0; i < count; ++i) {
            out[i] = 100000 * rank + i + target;
            in[i] = -1;
            WINDOW_PUT(w, &out[i], 1, MPI_INT32_T, target, part + (size_t)i * sizeof(*out));
        }
        MPI_OK(MPI_Win_flush(target, w->win));
        for (int i = 0; i < count; ++i)
            WINDOW_GET(w, &in[i], 1, MPI_INT32_T, target, part + (size_t)i * sizeof(*out));
        MPI_OK(MPI_Win_flush(target, w->win));
        for (int i = 0; i < count; ++i)
            CHECK(in[i] == out[i], "number %d of rank %d is %d", i, target, in[i]);
    }
    MPI_OK(MPI_Put(out, count, MPI_INT32_T, MPI_PROC_NULL, 0, count, MPI_INT32_T, w->win));
    MPI_OK(MPI_Win_unlock_all(w->win));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int from = 0; from < ranks; ++from)
        for (int i = 0; i < count; ++i) {
            int32_t is;
            memcpy(&is, w->memory + (size_t)(from * count + i) * sizeof(is), sizeof(is));
            CHECK(is == 100000 * from + i + rank, "number %d of rank %d is %d here", i, from, is);
        }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Several windows at a time, with different displacement units and sizes; some ranks have no
 * memory. */
static void several_windows(void) {
    enum { count = 4, elements = 100 };
    MPI_Win wins[count];
    int64_t memory[count][elements] = {0}, out[count];
    for (int i = 0; i < count; ++i) {
        const int has = i == 0 || rank % 2 == i % 2, unit = rank == 0 ? 8 : 16;
        MPI_OK(MPI_Win_create(has ? memory[i] : NULL, has ? sizeof(memory[i]) : 0, unit,
                              MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]));
        MPI_OK(MPI_Win_fence(0, wins[i]));
    }
    for (int i = 0; i < count; ++i) {
        out[i] = 100 * rank + i;
        for (int target = 0; target < ranks; ++target)
            if (i == 0 || target % 2 == i % 2)
                MPI_OK(MPI_Put(&out[i], 1, MPI_INT64_T, target, 3 + rank, 1, MPI_INT64_T, wins[i]));
    }
    for (int i = 0; i < count; ++i)
        MPI_OK(MPI_Win_fence(0, wins[i]));
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < elements; ++k) {
            const int step = rank == 0 ? 1 : 2, has = i == 0 || rank % 2 == i % 2;
            const int from = k / step - 3;
            const int64_t want =
                has && k % step == 0 && from >= 0 && from < ranks ? 100 * from + i : 0;
            CHECK(memory[i][k] == want, "window %d element %d is %ld, not %ld", i, k,
                  (long)memory[i][k], (long)want);
        }
        MPI_OK(MPI_Win_free(&wins[i]));
    }
}

int main(int argc, char** argv) {
    window_begin(&argc, &argv, "win_transfer");
    for (enum flavor flavor = 0; flavor < flavors; ++flavor) {
        struct window w = window_new(flavor, largest + 100);
        for (size_t i = 0; i < size_count; ++i) {
            fenced(&w, sizes[i], 0);
            fenced(&w, sizes[i], 100);
        }
        strided(&w);
        if (request_based_works(flavor)) by_request(&w);
        many(&w);
        window_free(&w);
    }
    several_windows();
    return test_end();
}
