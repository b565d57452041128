/* Common parts of both sides of the MoE benchmark: the experts that tokens choose, the contents
 * of rows, the order of copies in an exchange per expert, the timed loop and the printed line.
 * Every rank computes the choices of all ranks from the seed. So received data can be checked
 * without a message, and counts are known before the first exchange, as with the handle of a
 * notify. */
#ifndef HAWSER_TEST_MOE_BENCH_H
#define HAWSER_TEST_MOE_BENCH_H

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/bench/bind.h"
#include "test/bench/by_value.h"

struct moe_bench {
    uint32_t tokens, hidden, experts, k; /* tokens: per rank */
    uint32_t per_node;                   /* ranks per node; they are consecutive */
    uint32_t seed, iterations;
    const char* device; /* network device whose bytes are counted; NULL: none */
    const char* cpus;   /* comma-separated list; ranks are bound to these processors in turn; NULL:
                           not bound */
    uint32_t rank, ranks;
    uint64_t turn;    /* number of the call; each call has other rows */
    uint16_t* x;      /* [tokens, hidden] bf16 */
    int64_t* choices; /* [ranks, tokens, k] */
    /* Set by the program: */
    void (*barrier)(void);
    void (*largest)(double* values, int count); /* maximum over all ranks, in place */
};

/* Identifies the token of a row of copies. */
struct moe_copy {
    uint32_t source, token;
};

/* An exchange with one copy for each choice. Copies are sent in the order of (expert, token), so
 * they are received in the order of (source, expert, token). */
struct moe_copies {
    struct moe_copy *sent, *received;
    uint64_t *send_counts, *receive_counts; /* [ranks] rows */
    uint64_t sends, receives;
    uint16_t *from, *into;
};

static inline void* moe_memory(uint64_t bytes) {
    void* made = NULL;
    if (posix_memalign(&made, 4096, bytes + 4096) != 0) {
        fprintf(stderr, "no memory for %llu bytes\n", (unsigned long long)bytes);
        exit(1);
    }
    memset(made, 0, bytes + 4096);
    return made;
}

static inline double moe_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64 */
static inline uint64_t moe_mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* ------------------------------------------------------------------ options */

static const char moe_usage[] =
    "options: -t tokens of a rank (1024)  -H hidden (4096)  -e experts (64)  -k choices (8)\n"
    "         -n timed iterations (5)  -S seed (1)  -N ranks of a node (2)\n"
    "         -i network device whose bytes are counted (none)\n"
    "         -C processors, by comma, to which the ranks are bound in turn (not bound)\n";

static inline uint32_t moe_number(const char* text, uint32_t most) {
    char* end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || value == 0 || value > most) {
        fprintf(stderr, "\"%s\" is no number from 1 to %u\n%s", text, most, moe_usage);
        exit(2);
    }
    return (uint32_t)value;
}

static inline void moe_read_options(struct moe_bench* to, int argc, char** argv) {
    const struct {
        char letter;
        uint32_t* into;
        uint32_t most;
    } numbers[] = {{'t', &to->tokens, 1u << 20},   {'H', &to->hidden, 1u << 20},
                   {'e', &to->experts, 1u << 16},  {'k', &to->k, 1024},
                   {'n', &to->iterations, 100000}, {'S', &to->seed, UINT32_MAX},
                   {'N', &to->per_node, 1u << 16}};
    const size_t count = sizeof numbers / sizeof *numbers;
    *to = (struct moe_bench){.tokens = 1024,
                             .hidden = 4096,
                             .experts = 64,
                             .k = 8,
                             .per_node = 2,
                             .seed = 1,
                             .iterations = 5};
    for (int option; (option = getopt(argc, argv, "t:H:e:k:n:S:N:i:C:")) != -1;) {
        size_t index = 0;
        while (index < count && numbers[index].letter != option)
            ++index;
        if (index < count) {
            *numbers[index].into = moe_number(optarg, numbers[index].most);
        } else if (option == 'i') {
            to->device = optarg;
        } else if (option == 'C') {
            to->cpus = optarg;
        } else {
            fputs(moe_usage, stderr);
            exit(2);
        }
    }
    if (optind != argc || to->hidden % 16 != 0 || to->k > to->experts) {
        fprintf(stderr, "hidden is a multiple of 16, and there are at least k experts\n%s",
                moe_usage);
        exit(2);
    }
}

/* Must be called before any memory is touched, so `rank` is the launcher's value. */
static inline void moe_bind(const struct moe_bench* bench, const char* rank) {
    if (bench->cpus == NULL) return;
    if (rank != NULL && bind_to_entry(bench->cpus, strtoul(rank, NULL, 10))) return;
    fprintf(stderr, "rank %s cannot be bound to a processor of \"%s\"\n",
            rank != NULL ? rank : "(unknown)", bench->cpus);
    exit(1);
}

/* ------------------------------------------------------------------ choices and rows */

/* k different experts for each token, all equally likely. */
static inline void moe_choose(const struct moe_bench* bench, uint32_t rank, int64_t* to) {
    int64_t* deck = moe_memory(bench->experts * sizeof *deck);
    uint64_t state = moe_mixed((uint64_t)bench->seed * 1000003 + rank);
    for (uint32_t e = 0; e < bench->experts; ++e)
        deck[e] = e;
    for (uint32_t t = 0; t < bench->tokens; ++t) {
        for (uint32_t j = 0; j < bench->k; ++j) {
            state = moe_mixed(state);
            const uint32_t other = j + (uint32_t)(state % (bench->experts - j));
            const int64_t drawn = deck[other];
            deck[other] = deck[j];
            deck[j] = drawn;
            to[(uint64_t)t * bench->k + j] = drawn;
        }
    }
    free(deck);
}

static inline uint16_t moe_bf16(unsigned value) {
    const float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* Writes the row of a token times `factor`, which is at most moe_most_targets. Numbers are from
 * 0 to 15, so that sums of that many are exact in bf16 in any order. The first twelve encode the
 * source and the token. */
enum { moe_most_targets = 17 };
static inline void moe_write_row(const struct moe_bench* bench, uint16_t* to, uint32_t source,
                                 uint32_t token, unsigned factor) {
    const uint64_t name = ((uint64_t)token << 16) | source;
    const uint64_t key = moe_mixed(name + (bench->turn << 48));
    uint16_t numbers[16];
    for (unsigned value = 0; value < 16; ++value)
        numbers[value] = moe_bf16(factor * value);
    for (uint32_t h = 0; h < bench->hidden; h += 16) {
        uint64_t word = moe_mixed(key + h);
        if (h == 0) word = (word & ~(uint64_t)0 << 48) | name;
        for (uint32_t i = 0; i < 16; ++i)
            to[h + i] = numbers[word >> (4 * i) & 15];
    }
}

static inline const int64_t* moe_chosen(const struct moe_bench* bench, uint32_t rank,
                                        uint32_t token) {
    return bench->choices + ((uint64_t)rank * bench->tokens + token) * bench->k;
}

static inline uint32_t moe_owner(const struct moe_bench* bench, int64_t expert) {
    return (uint32_t)expert / (bench->experts / bench->ranks);
}

/* Number of ranks that a token goes to. */
static inline unsigned moe_targets(const struct moe_bench* bench, uint32_t rank, uint32_t token) {
    const int64_t* chosen = moe_chosen(bench, rank, token);
    unsigned count = 0;
    for (uint32_t j = 0; j < bench->k; ++j) {
        uint32_t before = 0;
        while (before < j && moe_owner(bench, chosen[before]) != moe_owner(bench, chosen[j]))
            ++before;
        count += before == j;
    }
    return count;
}

static inline void moe_write_tokens(const struct moe_bench* bench) {
    for (uint32_t t = 0; t < bench->tokens; ++t)
        moe_write_row(bench, bench->x + (uint64_t)t * bench->hidden, bench->rank, t, 1);
}

/* `rank` and `ranks` must be set. */
static inline void moe_begin(struct moe_bench* bench) {
    if (bench->experts % bench->ranks != 0 || bench->ranks > 1u << 16) {
        fprintf(stderr, "%u experts are no multiple of %u ranks\n", bench->experts, bench->ranks);
        exit(2);
    }
    bench->choices =
        moe_memory((uint64_t)bench->ranks * bench->tokens * bench->k * sizeof *bench->choices);
    for (uint32_t rank = 0; rank < bench->ranks; ++rank)
        moe_choose(bench, rank, bench->choices + (uint64_t)rank * bench->tokens * bench->k);
    bench->x = moe_memory((uint64_t)bench->tokens * bench->hidden * sizeof *bench->x);
    moe_write_tokens(bench);
}

static inline void moe_end(struct moe_bench* bench) {
    free(bench->choices);
    free(bench->x);
}

/* ------------------------------------------------------------------ a copy for each expert */

/* Writes the copies from a rank to an expert, in order, and returns their number; `to` may be
 * NULL. */
static inline uint64_t moe_copies_to(const struct moe_bench* bench, uint32_t source, int64_t expert,
                                     struct moe_copy* to) {
    uint64_t count = 0;
    for (uint32_t t = 0; t < bench->tokens; ++t) {
        const int64_t* chosen = moe_chosen(bench, source, t);
        for (uint32_t j = 0; j < bench->k; ++j) {
            if (chosen[j] != expert) continue;
            if (to != NULL) to[count] = (struct moe_copy){source, t};
            ++count;
        }
    }
    return count;
}

static inline void moe_copies_make(const struct moe_bench* bench, struct moe_copies* made) {
    const uint32_t local = bench->experts / bench->ranks;
    const uint64_t most = (uint64_t)bench->ranks * bench->tokens * bench->k;
    made->sent = moe_memory((uint64_t)bench->tokens * bench->k * sizeof *made->sent);
    made->received = moe_memory(most * sizeof *made->received);
    made->send_counts = moe_memory(bench->ranks * sizeof(uint64_t));
    made->receive_counts = moe_memory(bench->ranks * sizeof(uint64_t));
    made->sends = made->receives = 0;
    for (uint32_t other = 0; other < bench->ranks; ++other) {
        for (uint32_t e = 0; e < local; ++e) {
            const uint64_t out = moe_copies_to(bench, bench->rank, (int64_t)other * local + e,
                                               made->sent + made->sends);
            const uint64_t in = moe_copies_to(bench, other, (int64_t)bench->rank * local + e,
                                              made->received + made->receives);
            made->send_counts[other] += out;
            made->sends += out;
            made->receive_counts[other] += in;
            made->receives += in;
        }
    }
    made->from = moe_memory(made->sends * bench->hidden * sizeof *made->from);
    made->into = moe_memory(made->receives * bench->hidden * sizeof *made->into);
}

static inline void moe_copies_free(struct moe_copies* copies) {
    free(copies->sent);
    free(copies->received);
    free(copies->send_counts);
    free(copies->receive_counts);
    free(copies->from);
    free(copies->into);
}

static inline void moe_copies_pack(const struct moe_bench* bench, const struct moe_copies* copies) {
    for (uint64_t i = 0; i < copies->sends; ++i)
        memcpy(copies->from + i * bench->hidden,
               bench->x + (uint64_t)copies->sent[i].token * bench->hidden,
               bench->hidden * sizeof *bench->x);
}

/* Returns true if the rows are the expected tokens; prints the first wrong one. */
static inline int moe_rows_are(const struct moe_bench* bench, const uint16_t* rows,
                               const struct moe_copy* wanted, uint64_t count) {
    uint16_t* row = moe_memory(bench->hidden * sizeof *row);
    uint64_t i = 0;
    for (; i < count; ++i) {
        moe_write_row(bench, row, wanted[i].source, wanted[i].token, 1);
        if (memcmp(rows + i * bench->hidden, row, bench->hidden * sizeof *row) != 0) break;
    }
    free(row);
    if (i == count) return 1;
    fprintf(stderr, "rank %u: row %llu is not token %u of rank %u\n", bench->rank,
            (unsigned long long)i, wanted[i].token, wanted[i].source);
    return 0;
}

/* ------------------------------------------------------------------ bytes on the links */

/* Returns the most bytes that a node must send or receive: a copy for each choice, or for each
 * node. */
static inline double moe_crossing(const struct moe_bench* bench, int for_each_choice) {
    const uint32_t nodes = (bench->ranks + bench->per_node - 1) / bench->per_node;
    uint64_t* out = moe_memory(nodes * sizeof *out);
    uint64_t* in = moe_memory(nodes * sizeof *in);
    uint32_t* seen = moe_memory(nodes * sizeof *seen); /* number of the last token, from 1 on */
    uint32_t number = 0;
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < bench->ranks; ++rank) {
        const uint32_t node = rank / bench->per_node;
        for (uint32_t t = 0; t < bench->tokens; ++t) {
            ++number;
            for (uint32_t j = 0; j < bench->k; ++j) {
                const uint32_t target_node =
                    moe_owner(bench, moe_chosen(bench, rank, t)[j]) / bench->per_node;
                if (target_node == node || (!for_each_choice && seen[target_node] == number))
                    continue;
                seen[target_node] = number;
                ++out[node];
                ++in[target_node];
            }
        }
    }
    for (uint32_t node = 0; node < nodes; ++node) {
        most = out[node] > most ? out[node] : most;
        most = in[node] > most ? in[node] : most;
    }
    free(out);
    free(in);
    free(seen);
    return (double)most * bench->hidden * sizeof(uint16_t);
}

struct moe_counters {
    double got, sent;
};

/* Bytes that the device in this process's network namespace has carried since it was made. */
static inline struct moe_counters moe_device_bytes(const struct moe_bench* bench) {
    struct moe_counters found = {0, 0};
    char line[512];
    FILE* file;
    if (bench->device == NULL) return found;
    file = fopen("/proc/self/net/dev", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char* name = line + strspn(line, " ");
        char* colon = strchr(name, ':');
        if (colon == NULL) continue;
        *colon = '\0';
        if (strcmp(name, bench->device) != 0) continue;
        if (sscanf(colon + 1, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", &found.got, &found.sent) != 2)
            break;
        fclose(file);
        return found;
    }
    fprintf(stderr, "rank %u: there is no network device %s here\n", bench->rank, bench->device);
    exit(1);
}

/* ------------------------------------------------------------------ the loop */

struct moe_case {
    const char* name;
    double crossing;     /* result of moe_crossing() */
    void (*write)(void); /* writes the input before each call */
    void (*call)(void);  /* the timed call */
    void (*clear)(void); /* clears the output before the last call */
    int (*right)(void);  /* checks the output after the last call */
};

static inline void moe_print_header(const struct moe_bench* bench) {
    if (bench->rank == 0)
        puts("what,ranks,iterations,min_us,median_us,max_us,crossing_bytes,device_bytes");
}

/* Returns the seconds of one call. */
static inline double moe_iterate(struct moe_bench* bench, const struct moe_case* test_case) {
    ++bench->turn;
    test_case->write();
    bench->barrier();
    const double begin = moe_now();
    test_case->call();
    return moe_now() - begin;
}

/* The time of an iteration is that of its slowest rank. Exits if the data was wrong. */
static inline void moe_measure(struct moe_bench* bench, const struct moe_case* test_case) {
    const int n = (int)bench->iterations;
    double* times = moe_memory((uint64_t)n * sizeof *times);
    double found[2];
    struct moe_counters before, after;
    (void)moe_iterate(bench, test_case); /* connects and allocates memory */
    bench->barrier();
    before = moe_device_bytes(bench);
    for (int i = 0; i < n; ++i) {
        if (i == n - 1) test_case->clear();
        times[i] = moe_iterate(bench, test_case);
    }
    bench->barrier();
    after = moe_device_bytes(bench);
    found[0] = !test_case->right();
    found[1] = after.sent - before.sent;
    if (after.got - before.got > found[1]) found[1] = after.got - before.got;
    bench->largest(found, 2);
    bench->largest(times, n);
    if (found[0] != 0) {
        if (bench->rank == 0) fprintf(stderr, "%s: the received data is wrong\n", test_case->name);
        exit(1);
    }
    if (bench->rank == 0) {
        qsort(times, (size_t)n, sizeof *times, by_value);
        printf("%s,%u,%d,%.1f,%.1f,%.1f,%.0f,%.0f\n", test_case->name, bench->ranks, n,
               times[0] * 1e6, (times[(n - 1) / 2] + times[n / 2]) * 0.5e6, times[n - 1] * 1e6,
               test_case->crossing, found[1] / n);
        fflush(stdout);
    }
    free(times);
}

/* ------------------------------------------------------------------ the calls of both programs */

static struct moe_bench bench;
static struct moe_copies copies;

/* The program's alltoallv of the copies. */
static void exchange(void);

static void pack_and_exchange(void) {
    moe_copies_pack(&bench, &copies);
    exchange();
}

static void write_tokens(void) {
    moe_write_tokens(&bench);
}

static void write_copies(void) {
    moe_write_tokens(&bench);
    moe_copies_pack(&bench, &copies);
}

static void clear_copies(void) {
    memset(copies.into, 0xff, copies.receives * bench.hidden * sizeof *copies.into);
}

static int copies_right(void) {
    return moe_rows_are(&bench, copies.into, copies.received, copies.receives);
}

static inline void moe_measure_copies(void) {
    const double crossing = moe_crossing(&bench, 1);
    moe_measure(&bench, &(struct moe_case){"copies", crossing, write_tokens, pack_and_exchange,
                                           clear_copies, copies_right});
    moe_measure(&bench, &(struct moe_case){"copies in place", crossing, write_copies, exchange,
                                           clear_copies, copies_right});
}

#endif
