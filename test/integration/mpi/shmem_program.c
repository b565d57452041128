/* OpenSHMEM on Open MPI's spml/ucx: put and get, atomic operations, waiting for a value,
 * collectives, the symmetric heap. Each PE checks which libucp serves it. */
#include <dlfcn.h>
#include <limits.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, pes;
static long checks_done;

#define CHECK(cond, ...)                                                              \
    do {                                                                              \
        ++checks_done;                                                                \
        if (!(cond)) {                                                                \
            fprintf(stderr, "FAIL pe %d/%d line %d: %s: ", me, pes, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                                             \
            fputc('\n', stderr);                                                      \
            shmem_global_exit(1);                                                     \
        }                                                                             \
    } while (0)

/* Static memory of the program is symmetric, too. */
static long image[8];
static long reduce_work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 64];
static long reduce_sync[SHMEM_REDUCE_SYNC_SIZE], broadcast_sync[SHMEM_BCAST_SYNC_SIZE];

/* Checks that exactly the library that the runner names is mapped. */
static void check_library(void) {
    const char* expected = getenv("HAWSER_EXPECT_LIBUCP");
    char want[PATH_MAX], line[PATH_MAX + 128];
    int found = 0;
    if (expected == NULL) return;
    CHECK(realpath(expected, want) != NULL, "%s does not exist", expected);
    FILE* maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL, "no /proc");
    int component = 0;
    while (fgets(line, sizeof(line), maps) != NULL) {
        char* path = strchr(line, '/');
        if (path == NULL) continue;
        path[strcspn(path, "\n")] = '\0';
        if (strstr(path, "/mca_spml_ucx.so") != NULL) component = 1;
        if (strstr(path, "/libucp.so") == NULL) continue;
        CHECK(strcmp(path, want) == 0, "mapped is %s", path);
        found = 1;
    }
    fclose(maps);
    CHECK(found && component, "libucp or spml/ucx is not loaded");
}

static unsigned char pattern(int from, size_t i) {
    return (unsigned char)((size_t)from * 37 + i * 11 + (i >> 8));
}

static void put_and_get(void) {
    static const size_t sizes[] = {1, 8, 65, 4096, 70000, 1 << 20};
    enum { largest = 1 << 20 };
    const int next = (me + 1) % pes, previous = (me + pes - 1) % pes;
    unsigned char *remote = shmem_malloc(largest + 1), *own = malloc(largest),
                  *back = malloc(largest);
    CHECK(remote != NULL && own != NULL && back != NULL, "no memory");
    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); ++k) {
        const size_t size = sizes[k];
        for (size_t i = 0; i < size; ++i)
            own[i] = pattern(me + (int)k, i);
        remote[size] = 99;
        shmem_barrier_all();
        shmem_putmem(remote, own, size, next);
        shmem_barrier_all();
        for (size_t i = 0; i < size; ++i)
            if (remote[i] != pattern(previous + (int)k, i))
                CHECK(0, "byte %zu of %zu put is wrong", i, size);
        CHECK(remote[size] == 99, "the byte behind %zu was written", size);
        shmem_getmem_nbi(back, remote, size, next);
        shmem_quiet();
        CHECK(memcmp(back, own, size) == 0, "%zu bytes came back otherwise", size);
        shmem_barrier_all();
    }
    shmem_long_p(&image[1], 1000 + me, next);
    shmem_barrier_all();
    CHECK(image[1] == 1000 + previous, "the image has %ld", image[1]);
    CHECK(shmem_long_g(&image[1], next) == 1000 + me, "another number came back");
    long odd[3] = {10 * me, 10 * me + 1, 10 * me + 2}, *strided = shmem_calloc(6, sizeof(long));
    shmem_barrier_all(); /* clearing is allowed after the barrier inside of shmem_calloc */
    shmem_long_iput(strided, odd, 2, 1, 3, next);
    shmem_barrier_all();
    for (int i = 0; i < 6; ++i)
        CHECK(strided[i] == (i % 2 ? 0 : 10 * previous + i / 2), "%d is %ld", i, strided[i]);
    shmem_barrier_all();
    shmem_free(strided);
    shmem_free(remote);
    free(own);
    free(back);
}

static void atomics(void) {
    enum { each = 50 };
    long* count = shmem_calloc(8, sizeof(long));
    int* small = shmem_calloc(2, sizeof(int));
    unsigned long* bits = shmem_calloc(1, sizeof(long));
    unsigned char* given = calloc((size_t)(each * pes), 1);
    shmem_barrier_all();
    for (int i = 0; i < each; ++i) {
        shmem_long_atomic_add(&count[0], me + 1, 0);
        shmem_long_atomic_inc(&count[1], 0);
        const long ticket = shmem_long_atomic_fetch_add(&count[2], 1, 0);
        CHECK(ticket >= 0 && ticket < each * pes && given[ticket]++ == 0, "ticket %ld", ticket);
        shmem_int_atomic_fetch_inc(&small[0], 0);
        shmem_int_atomic_add(&small[1], 3, i % pes);
        long seen = shmem_long_atomic_fetch(&count[3], 0), was;
        while ((was = shmem_long_atomic_compare_swap(&count[3], seen, seen + 1, 0)) != seen)
            seen = was;
    }
    shmem_ulong_atomic_or(bits, 1UL << me, 0);
    const long before = shmem_long_atomic_swap(&count[4], 500 + me, me);
    CHECK(before == 0, "%ld was there", before);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(count[4] == 500 + me, "swapped in was %ld", count[4]);
    if (me == 0) {
        CHECK(count[0] == each * pes * (pes + 1) / 2, "added up to %ld", count[0]);
        CHECK(count[1] == each * pes && count[2] == each * pes, "%ld, %ld", count[1], count[2]);
        CHECK(count[3] == each * pes && small[0] == each * pes, "%ld, %d", count[3], small[0]);
        CHECK(bits[0] == (1UL << pes) - 1, "bits %lx", bits[0]);
    }
    shmem_barrier_all();
    free(given);
    shmem_free(count);
    shmem_free(small);
    shmem_free(bits);
}

/* Data, fence, flag: a PE that sees the flag must see the data. */
static void wait_until(void) {
    enum { rounds = 20, length = 500 };
    const int next = (me + 1) % pes, previous = (me + pes - 1) % pes;
    long *data = shmem_calloc(length, sizeof(long)), *flag = shmem_calloc(2, sizeof(long));
    long own[length];
    shmem_barrier_all();
    for (long round = 1; round <= rounds; ++round) {
        for (int i = 0; i < length; ++i)
            own[i] = 10000 * me + 10 * round + i;
        shmem_long_put(data, own, length, next);
        shmem_fence();
        shmem_long_p(&flag[0], round, next);
        shmem_long_wait_until(&flag[0], SHMEM_CMP_GE, round);
        for (int i = 0; i < length; ++i)
            CHECK(data[i] == 10000 * previous + 10 * round + i, "round %ld: %d is %ld", round, i,
                  data[i]);
        shmem_long_atomic_inc(&flag[1], previous);
        shmem_long_wait_until(&flag[1], SHMEM_CMP_EQ, round);
    }
    shmem_barrier_all();
    shmem_free(data);
    shmem_free(flag);
}

static void collectives(void) {
    enum { count = 30 };
    long *out = shmem_calloc(count, sizeof(long)), *in = shmem_calloc(count, sizeof(long));
    for (int round = 0; round < 3; ++round) {
        const int root = round % pes;
        for (int i = 0; i < count; ++i) {
            out[i] = 100 * me + i + round;
            in[i] = -1;
        }
        shmem_barrier_all();
        shmem_broadcast64(in, out, count, root, 0, 0, pes, broadcast_sync);
        shmem_barrier_all();
        for (int i = 0; i < count && me != root; ++i)
            CHECK(in[i] == 100 * root + i + round, "%d was broadcast as %ld", i, in[i]);
        shmem_barrier_all();
        shmem_long_sum_to_all(in, out, count, 0, 0, pes, reduce_work, reduce_sync);
        shmem_barrier_all();
        for (int i = 0; i < count; ++i)
            CHECK(in[i] == 50L * pes * (pes - 1) + pes * (long)(i + round), "sum %d is %ld", i,
                  in[i]);
        shmem_barrier_all();
        shmem_long_max_to_all(in, out, count, 0, 0, pes, reduce_work, reduce_sync);
        shmem_barrier_all();
        CHECK(in[0] == 100 * (pes - 1) + round, "the maximum is %ld", in[0]);
    }
    shmem_free(out);
    shmem_free(in);
}

static void heap(void) {
    const int next = (me + 1) % pes, previous = (me + pes - 1) % pes;
    for (int round = 0; round < 10; ++round) {
        const size_t size = (size_t)(round + 1) * 3000;
        char* block = shmem_malloc(size);
        char* aligned = shmem_align(256, 100);
        CHECK(block != NULL && aligned != NULL && (size_t)aligned % 256 == 0, "no memory");
        memset(block, 'a' + me, size);
        block = shmem_realloc(block, 2 * size);
        CHECK(block != NULL && block[0] == 'a' + me && block[size - 1] == 'a' + me, "not kept");
        CHECK(shmem_addr_accessible(block, next), "not accessible at %d", next);
        shmem_barrier_all();
        shmem_char_p(&block[2 * size - 1], (char)('A' + me), next);
        shmem_barrier_all();
        CHECK(block[2 * size - 1] == 'A' + previous, "another letter");
        shmem_free(aligned);
        shmem_free(block);
    }
}

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i)
        reduce_sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i)
        broadcast_sync[i] = SHMEM_SYNC_VALUE;
    check_library();
    shmem_barrier_all();
    put_and_get();
    atomics();
    wait_until();
    collectives();
    heap();
    shmem_barrier_all();
    if (me == 0) printf("PASS shmem_program: %ld checks on %d ranks\n", checks_done, pes);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
