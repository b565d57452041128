/*
 * Helpers of the MPI integration programs: checks that abort the whole job with a clear line, data
 * whose every byte depends on its position, and buffers that notice a write outside them. A program
 * calls test_begin first and returns test_end(); the runner wants exit code 0 and the PASS line
 * with a count.
 */
#ifndef HAWSER_TEST_MPI_CHECK_H
#define HAWSER_TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

#include "provider.h"

enum { guard_bytes = 64, guard_value = 0xA5, untouched = 0x5A };

static int rank, ranks;
static const char* test_name;
static _Atomic unsigned long checks_done;

#define CHECK(cond, ...)                                                   \
    do {                                                                   \
        ++checks_done;                                                     \
        if (!(cond)) check_failed(__FILE__, __LINE__, #cond, __VA_ARGS__); \
    } while (0)

#define MPI_OK(call) CHECK((call) == MPI_SUCCESS, "the call failed")

__attribute__((format(printf, 4, 5))) static inline void check_failed(const char* file, int line,
                                                                      const char* operation,
                                                                      const char* format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "FAIL %s rank %d/%d %s:%d: %s: %s\n", test_name, rank, ranks, file, line,
            operation, text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static inline uint64_t pattern_word(uint64_t seed, size_t word) {
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL + (uint64_t)word * 0xd1342543de82ef95ULL;
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 29);
}

/* Fills n bytes; byte i depends on seed and i only. */
static inline void pattern_fill(void* buffer, size_t n, uint64_t seed) {
    unsigned char* out = buffer;
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        const uint64_t word = pattern_word(seed, i / sizeof(uint64_t));
        memcpy(out + i, &word, n - i < sizeof(word) ? n - i : sizeof(word));
    }
}

/* Index of the first byte that differs from the pattern, or n. */
static inline size_t pattern_differs(const void* buffer, size_t n, uint64_t seed) {
    const unsigned char* in = buffer;
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        const uint64_t word = pattern_word(seed, i / sizeof(uint64_t));
        const size_t part = n - i < sizeof(word) ? n - i : sizeof(word);
        if (memcmp(in + i, &word, part) != 0) {
            const unsigned char* want = (const unsigned char*)&word;
            size_t k = 0;
            while (in[i + k] == want[k])
                ++k;
            return i + k;
        }
    }
    return n;
}

#define CHECK_PATTERN(buffer, n, seed)                                     \
    do {                                                                   \
        const size_t bad_ = pattern_differs((buffer), (n), (seed));        \
        CHECK(bad_ == (n), "byte %zu of %zu is wrong", bad_, (size_t)(n)); \
    } while (0)

/* n bytes between two guards, preset to `untouched`; offset shifts the data off its alignment. */
static inline unsigned char* buffer_new_at(size_t n, size_t offset) {
    const size_t total = guard_bytes + offset + n + guard_bytes;
    unsigned char* base = malloc(total);
    CHECK(base != NULL, "no memory for %zu bytes", n);
    memset(base, guard_value, total);
    memset(base + guard_bytes + offset, untouched, n);
    memcpy(base, &n, sizeof(n));
    memcpy(base + sizeof(n), &offset, sizeof(offset));
    memcpy(base + guard_bytes + offset - sizeof(size_t), &offset, sizeof(offset));
    return base + guard_bytes + offset;
}

static inline unsigned char* buffer_new(size_t n) {
    return buffer_new_at(n, 0);
}

static inline void buffer_free(unsigned char* data) {
    size_t offset, n, stored;
    memcpy(&offset, data - sizeof(offset), sizeof(offset));
    CHECK(offset < 4096, "the guard before the buffer was overwritten");
    unsigned char* base = data - offset - guard_bytes;
    memcpy(&n, base, sizeof(n));
    memcpy(&stored, base + sizeof(n), sizeof(stored));
    CHECK(stored == offset, "the guard before the buffer was overwritten");
    const size_t front = guard_bytes + offset - sizeof(size_t);
    size_t i = 2 * sizeof(size_t);
    while (i < front && base[i] == guard_value)
        ++i;
    CHECK(i == front, "byte -%zu before the buffer was written", guard_bytes + offset - i);
    for (i = 0; i < guard_bytes && data[n + i] == guard_value;)
        ++i;
    CHECK(i == guard_bytes, "byte %zu behind the end of %zu was written", i, n);
    free(base);
}

/* A repeatable generator for the programs that choose at random. */
static inline uint64_t random_next(uint64_t* state) {
    *state += 0x9e3779b97f4a7c15ULL;
    return pattern_word(*state, 0);
}

static inline size_t random_below(uint64_t* state, size_t limit) {
    return (size_t)(random_next(state) % limit);
}

/* Checks the envelope of a message of `size` bytes. */
static inline void check_status(const MPI_Status* status, int source, int tag, size_t size) {
    int count = -1;
    MPI_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && (size_t)count == size,
          "source %d tag %d size %d, wanted %d %d %zu", status->MPI_SOURCE, status->MPI_TAG, count,
          source, tag, size);
}

/* A committed type of `count` blocks of `length` elements, `stride` elements apart. */
static inline MPI_Datatype vector_type_new(int count, int length, int stride,
                                           MPI_Datatype element) {
    MPI_Datatype type;
    MPI_OK(MPI_Type_vector(count, length, stride, element, &type));
    MPI_OK(MPI_Type_commit(&type));
    return type;
}

static inline long env_number(const char* name, long fallback) {
    const char* text = getenv(name);
    return text != NULL && *text != '\0' ? strtol(text, NULL, 10) : fallback;
}

/* HAWSER_MPI_NODES=n: ranks are distributed over n nodes for collectives that another library
 * takes. The rank is the launcher's, because MPI has not started. */
static inline void assign_nodes(void) {
    const long nodes = env_number("HAWSER_MPI_NODES", 0);
    const long place = env_number("OMPI_COMM_WORLD_RANK", env_number("PMI_RANK", 0));
    char name[32];
    if (nodes == 0) return;
    snprintf(name, sizeof(name), "node%ld", place % nodes);
    setenv("UCG_NODE_ID", name, 1);
}

/* Starts MPI. If the runner names a library, checks that it serves this rank. */
static inline void test_begin(int* argc, char*** argv, const char* name, int threads) {
    int provided = MPI_THREAD_SINGLE;
    test_name = name;
    assign_nodes();
    MPI_Init_thread(argc, argv, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided >= threads, "thread level %d given, %d wanted", provided, threads);
    char why[1024];
    CHECK(provider_check(why, sizeof(why)), "%s", why);
}

static inline int test_end(void) {
    unsigned long own = checks_done, all = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&own, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("PASS %s: %lu checks on %d ranks\n", test_name, all, ranks);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#endif
