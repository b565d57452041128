/* Synchronization of one-sided operations: fences, post/start/complete/wait, exclusive and
 * shared locks, lock_all with each kind of flush. Each step must see the data of the previous
 * one. */
#include "window.h"

/* Numbers pass around the ring by put, one fence per round. */
static void ring_of_fences(struct window* w) {
    enum { rounds = 10 };
    int64_t value, received;
    MPI_OK(MPI_Win_fence(0, w->win));
    for (int round = 0; round < rounds; ++round) {
        value = 1000 * round + rank;
        WINDOW_PUT(w, &value, 1, MPI_INT64_T, next, 0);
        MPI_OK(MPI_Win_fence(round + 1 == rounds ? MPI_MODE_NOSUCCEED : 0, w->win));
        memcpy(&received, w->memory, sizeof(received));
        CHECK(received == 1000 * round + previous, "round %d brought %ld", round, (long)received);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static MPI_Group group_of(const int members[], int count) {
    MPI_Group all, some;
    MPI_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI_OK(MPI_Group_incl(all, count, members, &some));
    MPI_OK(MPI_Group_free(&all));
    return some;
}

/* Each rank exposes its memory to the previous one, which alone knows when its access is
 * complete. */
static void post_start(struct window* w) {
    enum { rounds = 10, size = 3000 };
    MPI_Group from = group_of(&previous, 1), to = group_of(&next, 1);
    unsigned char* out = buffer_new(size);
    unsigned char* in = buffer_new(size);
    for (int round = 0; round < rounds; ++round) {
        pattern_fill(w->memory + size, size, 200 + (uint64_t)(rank + round));
        pattern_fill(out, size, 100 * (uint64_t)rank + (uint64_t)round);
        MPI_OK(MPI_Win_post(from, 0, w->win));
        MPI_OK(MPI_Win_start(to, 0, w->win));
        WINDOW_PUT(w, out, size, MPI_BYTE, next, 0);
        WINDOW_GET(w, in, size, MPI_BYTE, next, size);
        MPI_OK(MPI_Win_complete(w->win));
        CHECK_PATTERN(in, size, 200 + (uint64_t)(next + round));
        if (round % 2 == 0) {
            MPI_OK(MPI_Win_wait(w->win));
        } else {
            for (int done = 0; !done;)
                MPI_OK(MPI_Win_test(w->win, &done));
        }
        CHECK_PATTERN(w->memory, size, 100 * (uint64_t)previous + (uint64_t)round);
    }
    buffer_free(out);
    buffer_free(in);
    MPI_OK(MPI_Group_free(&from));
    MPI_OK(MPI_Group_free(&to));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All others write to rank 0 in one exposure epoch. */
static void post_for_many(struct window* w) {
    int members[64], count = 0;
    const int64_t value = 77 + rank;
    for (int i = rank == 0 ? 1 : 0; i < (rank == 0 ? ranks : 1); ++i)
        members[count++] = i;
    MPI_Group group = group_of(members, count);
    if (rank == 0) {
        MPI_OK(MPI_Win_post(group, 0, w->win));
        MPI_OK(MPI_Win_wait(w->win));
        for (int i = 1; i < ranks; ++i) {
            int64_t is;
            memcpy(&is, w->memory + 8 * i, sizeof(is));
            CHECK(is == 77 + i, "rank %d wrote %ld", i, (long)is);
        }
    } else {
        MPI_OK(MPI_Win_start(group, 0, w->win));
        WINDOW_PUT(w, &value, 1, MPI_INT64_T, 0, 8 * (size_t)rank);
        MPI_OK(MPI_Win_complete(w->win));
    }
    MPI_OK(MPI_Group_free(&group));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A number and its copy at another offset: only the holder of the exclusive lock may see them
 * differ. */
static void exclusive(struct window* w) {
    enum { each = 8, far = 5000 };
    int64_t first, second;
    if (rank == 0) memset(w->memory, 0, w->size);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < each; ++i) {
        MPI_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        WINDOW_GET(w, &first, 1, MPI_INT64_T, 0, 0);
        WINDOW_GET(w, &second, 1, MPI_INT64_T, 0, far);
        MPI_OK(MPI_Win_flush(0, w->win));
        CHECK(first == second, "%ld and %ld differ", (long)first, (long)second);
        ++first;
        ++second;
        WINDOW_PUT(w, &first, 1, MPI_INT64_T, 0, 0);
        WINDOW_PUT(w, &second, 1, MPI_INT64_T, 0, far);
        MPI_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    WINDOW_GET(w, &first, 1, MPI_INT64_T, 0, 0);
    MPI_OK(MPI_Win_unlock(0, w->win));
    CHECK(first == each * ranks, "%ld increments are there", (long)first);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Locks of several targets are held at the same time. */
static void locks_of_all(struct window* w) {
    int64_t value = 5 + rank, received;
    for (int target = 0; target < ranks; ++target)
        MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    for (int target = 0; target < ranks; ++target)
        WINDOW_PUT(w, &value, 1, MPI_INT64_T, target, 8 * (size_t)rank);
    for (int target = ranks; target-- > 0;)
        MPI_OK(MPI_Win_unlock(target, w->win));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    for (int from = 0; from < ranks; ++from) {
        memcpy(&received, w->memory + 8 * from, sizeof(received));
        CHECK(received == 5 + from, "rank %d wrote %ld", from, (long)received);
    }
    MPI_OK(MPI_Win_unlock(rank, w->win));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

enum { data_size = 20000, flag_at = 24000 };

/* Waits for the own flag by plain loads. MPI_Fetch_and_op on the own window would take Open
 * MPI's lock of the window again and again, and the rank that sets the flag would get it too
 * rarely (seen on ours and on OpenUCX 1.13). */
static int64_t wait_for_flag(struct window* w, int64_t wanted) {
    const volatile int64_t* flag = (const volatile int64_t*)(void*)(w->memory + flag_at);
    int64_t seen;
    int remote;
    while ((seen = *flag) < wanted) {
        MPI_OK(MPI_Win_sync(w->win));
        MPI_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &remote, MPI_STATUS_IGNORE));
    }
    MPI_OK(MPI_Win_sync(w->win));
    return seen;
}

/* Data, flush, then a flag: a rank that sees the flag must see the data. */
static void data_before_flag(struct window* w) {
    enum { rounds = 6 };
    unsigned char* out = buffer_new(data_size);
    memset(w->memory, 0, w->size);
    MPI_OK(MPI_Win_lock_all(0, w->win));
    MPI_OK(MPI_Win_sync(w->win));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int64_t round = 1; round <= rounds; ++round) {
        const size_t part = data_size / rounds * ((size_t)round - 1);
        const int length = data_size / rounds;
        pattern_fill(out, (size_t)length, 50 * (uint64_t)rank + (uint64_t)round);
        WINDOW_PUT(w, out, length, MPI_BYTE, next, part);
        if (round % 2 == 0)
            MPI_OK(MPI_Win_flush(next, w->win));
        else
            MPI_OK(MPI_Win_flush_all(w->win));
        MPI_OK(MPI_Accumulate(&round, 1, MPI_INT64_T, next, window_at(w, next, flag_at), 1,
                              MPI_INT64_T, MPI_REPLACE, w->win));
        if (round % 2 == 0)
            MPI_OK(MPI_Win_flush_local(next, w->win));
        else
            MPI_OK(MPI_Win_flush_local_all(w->win));
        MPI_OK(MPI_Win_flush(next, w->win));
        const int64_t seen = wait_for_flag(w, round);
        /* Each rank waits for the previous one, so a rank can be ahead by at most `ranks`
         * rounds. */
        CHECK(seen < round + ranks, "the flag is %ld in round %ld", (long)seen, (long)round);
        CHECK_PATTERN(w->memory + part, (size_t)length, 50 * (uint64_t)previous + (uint64_t)round);
    }
    MPI_OK(MPI_Win_unlock_all(w->win));
    buffer_free(out);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The attributes of a window. */
static void attributes(const struct window* w) {
    int *flavor, *model, found;
    static const int flavors_of_mpi[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                         MPI_WIN_FLAVOR_DYNAMIC};
    MPI_OK(MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &flavor, &found));
    CHECK(found && *flavor == flavors_of_mpi[w->flavor], "another flavor");
    MPI_OK(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &found));
    CHECK(found && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE), "no memory model");
    if (w->flavor == flavor_dynamic) return;
    void* base;
    MPI_Aint* size;
    MPI_OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &found));
    CHECK(found && base == w->base, "another base");
    MPI_OK(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &size, &found));
    CHECK(found && *size == (MPI_Aint)(w->size + 2 * window_guard), "another size");
}

int main(int argc, char** argv) {
    window_begin(&argc, &argv, "win_sync");
    for (enum flavor flavor = 0; flavor < flavors; ++flavor) {
        struct window w = window_new(flavor, 32768);
        attributes(&w);
        ring_of_fences(&w);
        post_start(&w);
        post_for_many(&w);
        exclusive(&w);
        locks_of_all(&w);
        data_before_flag(&w);
        window_free(&w);
    }
    return test_end();
}
