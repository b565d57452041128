/*
 * What both sides of the MoE benchmark share: which experts tokens choose, what rows hold, where
 * the copies of an exchange per expert lie, the loop that is timed, and the line that is printed.
 *
 * Every rank knows the choices of all: they come from the seed. So what arrives can be checked
 * without a message, and counts are known before the first exchange, as they are to who has the
 * handle of a notify.
 */
#ifndef HAWSER_TEST_MOE_BENCH_H
#define HAWSER_TEST_MOE_BENCH_H

#include <getopt.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct moe_bench {
    uint32_t tokens, hidden, experts, k; /* tokens: of each rank */
    uint32_t per_node;                   /* ranks of a node; they follow each other */
    uint64_t seed;
    int iterations;
    const char* device; /* of the network, whose bytes are counted; NULL: none */
    const char* cpus;   /* processors to which ranks are bound in turn, by comma; NULL: nobody is */
    uint32_t rank, ranks;
    uint64_t turn;    /* of the calls: each has other rows */
    uint16_t* x;      /* [tokens, hidden] bf16 */
    int64_t* choices; /* [ranks, tokens, k] */
    /* What the side brings along: */
    void (*barrier)(void);
    void (*largest)(double* values, int count); /* over all ranks, in place */
};

/* A row of copies: which token it is of. */
struct moe_copy {
    uint32_t source, token;
};

/* An exchange of one copy for each choice: sent in the order of (expert, token), so received in
 * that of (source, expert, token). */
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
    "         -C processors, by comma, to which the ranks are bound in turn (nobody is)\n";

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
    to->tokens = 1024;
    to->hidden = 4096;
    to->experts = 64;
    to->k = 8;
    to->per_node = 2;
    to->seed = 1;
    to->iterations = 5;
    to->device = NULL;
    to->cpus = NULL;
    to->turn = 0;
    for (int option; (option = getopt(argc, argv, "t:H:e:k:n:S:N:i:C:")) != -1;) {
        switch (option) {
            case 't':
                to->tokens = moe_number(optarg, 1u << 20);
                break;
            case 'H':
                to->hidden = moe_number(optarg, 1u << 20);
                break;
            case 'e':
                to->experts = moe_number(optarg, 1u << 16);
                break;
            case 'k':
                to->k = moe_number(optarg, 1024);
                break;
            case 'n':
                to->iterations = (int)moe_number(optarg, 100000);
                break;
            case 'S':
                to->seed = moe_number(optarg, UINT32_MAX);
                break;
            case 'N':
                to->per_node = moe_number(optarg, 1u << 16);
                break;
            case 'i':
                to->device = optarg;
                break;
            case 'C':
                to->cpus = optarg;
                break;
            default:
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

/* Before any memory is touched, so by the launcher's word for which rank this is. */
static inline void moe_bind(const struct moe_bench* of, const char* rank) {
    unsigned long cpus[CPU_SETSIZE];
    size_t count = 0;
    const char* list = of->cpus;
    cpu_set_t chosen;
    if (list == NULL) return;
    while (*list != '\0' && count < CPU_SETSIZE) {
        char* end = NULL;
        cpus[count++] = strtoul(list, &end, 10);
        if (end == list) break;
        list = *end == ',' ? end + 1 : end;
    }
    CPU_ZERO(&chosen);
    if (rank != NULL && *list == '\0' && count > 0)
        CPU_SET(cpus[strtoul(rank, NULL, 10) % count], &chosen);
    if (sched_setaffinity(0, sizeof chosen, &chosen) == 0) return;
    fprintf(stderr, "rank %s cannot be bound to a processor of \"%s\"\n",
            rank != NULL ? rank : "(unknown)", of->cpus);
    exit(1);
}

/* ------------------------------------------------------------------ choices and rows */

/* k different experts for each token, all equally likely. */
static inline void moe_choose(const struct moe_bench* of, uint32_t rank, int64_t* to) {
    int64_t* deck = moe_memory(of->experts * sizeof *deck);
    uint64_t state = moe_mixed(of->seed * 1000003 + rank);
    for (uint32_t e = 0; e < of->experts; ++e)
        deck[e] = e;
    for (uint32_t t = 0; t < of->tokens; ++t) {
        for (uint32_t j = 0; j < of->k; ++j) {
            state = moe_mixed(state);
            const uint32_t other = j + (uint32_t)(state % (of->experts - j));
            const int64_t drawn = deck[other];
            deck[other] = deck[j];
            deck[j] = drawn;
            to[(uint64_t)t * of->k + j] = drawn;
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

/* Of a token times `factor`, which is at most moe_most_targets. Numbers are from 0 to 15, so that
 * sums of that many are exact in bf16, whatever the order. The first twelve carry the source and
 * the token. */
enum { moe_most_targets = 17 };
static inline void moe_write_row(const struct moe_bench* of, uint16_t* to, uint32_t source,
                                 uint32_t token, unsigned factor) {
    const uint64_t name = ((uint64_t)token << 16) | source;
    const uint64_t key = moe_mixed(name + (of->turn << 48));
    uint16_t numbers[16];
    for (unsigned value = 0; value < 16; ++value)
        numbers[value] = moe_bf16(factor * value);
    for (uint32_t h = 0; h < of->hidden; h += 16) {
        uint64_t word = moe_mixed(key + h);
        if (h == 0) word = (word & ~(uint64_t)0 << 48) | name;
        for (uint32_t i = 0; i < 16; ++i)
            to[h + i] = numbers[word >> (4 * i) & 15];
    }
}

static inline const int64_t* moe_chosen(const struct moe_bench* of, uint32_t rank, uint32_t token) {
    return of->choices + ((uint64_t)rank * of->tokens + token) * of->k;
}

static inline uint32_t moe_owner(const struct moe_bench* of, int64_t expert) {
    return (uint32_t)expert / (of->experts / of->ranks);
}

/* To how many ranks a token goes. */
static inline unsigned moe_targets(const struct moe_bench* of, uint32_t rank, uint32_t token) {
    const int64_t* chosen = moe_chosen(of, rank, token);
    unsigned count = 0;
    for (uint32_t j = 0; j < of->k; ++j) {
        uint32_t before = 0;
        while (before < j && moe_owner(of, chosen[before]) != moe_owner(of, chosen[j]))
            ++before;
        count += before == j;
    }
    return count;
}

static inline void moe_write_tokens(const struct moe_bench* of) {
    for (uint32_t t = 0; t < of->tokens; ++t)
        moe_write_row(of, of->x + (uint64_t)t * of->hidden, of->rank, t, 1);
}

/* When rank and ranks are known. */
static inline void moe_begin(struct moe_bench* of) {
    if (of->experts % of->ranks != 0 || of->ranks > 1u << 16) {
        fprintf(stderr, "%u experts are no multiple of %u ranks\n", of->experts, of->ranks);
        exit(2);
    }
    of->choices = moe_memory((uint64_t)of->ranks * of->tokens * of->k * sizeof *of->choices);
    for (uint32_t rank = 0; rank < of->ranks; ++rank)
        moe_choose(of, rank, of->choices + (uint64_t)rank * of->tokens * of->k);
    of->x = moe_memory((uint64_t)of->tokens * of->hidden * sizeof *of->x);
    moe_write_tokens(of);
}

static inline void moe_end(struct moe_bench* of) {
    free(of->choices);
    free(of->x);
}

/* ------------------------------------------------------------------ a copy for each expert */

/* The copies from a rank to an expert, in order; `to` may be NULL. */
static inline uint64_t moe_copies_to(const struct moe_bench* of, uint32_t source, int64_t expert,
                                     struct moe_copy* to) {
    uint64_t count = 0;
    for (uint32_t t = 0; t < of->tokens; ++t) {
        const int64_t* chosen = moe_chosen(of, source, t);
        for (uint32_t j = 0; j < of->k; ++j) {
            if (chosen[j] != expert) continue;
            if (to != NULL) to[count] = (struct moe_copy){source, t};
            ++count;
        }
    }
    return count;
}

static inline void moe_copies_make(const struct moe_bench* of, struct moe_copies* made) {
    const uint32_t local = of->experts / of->ranks;
    const uint64_t most = (uint64_t)of->ranks * of->tokens * of->k;
    made->sent = moe_memory((uint64_t)of->tokens * of->k * sizeof *made->sent);
    made->received = moe_memory(most * sizeof *made->received);
    made->send_counts = moe_memory(of->ranks * sizeof(uint64_t));
    made->receive_counts = moe_memory(of->ranks * sizeof(uint64_t));
    made->sends = made->receives = 0;
    for (uint32_t other = 0; other < of->ranks; ++other) {
        for (uint32_t e = 0; e < local; ++e) {
            const uint64_t out =
                moe_copies_to(of, of->rank, (int64_t)other * local + e, made->sent + made->sends);
            const uint64_t in = moe_copies_to(of, other, (int64_t)of->rank * local + e,
                                              made->received + made->receives);
            made->send_counts[other] += out;
            made->sends += out;
            made->receive_counts[other] += in;
            made->receives += in;
        }
    }
    made->from = moe_memory(made->sends * of->hidden * sizeof *made->from);
    made->into = moe_memory(made->receives * of->hidden * sizeof *made->into);
}

static inline void moe_copies_free(struct moe_copies* of) {
    free(of->sent);
    free(of->received);
    free(of->send_counts);
    free(of->receive_counts);
    free(of->from);
    free(of->into);
}

static inline void moe_copies_pack(const struct moe_bench* of, const struct moe_copies* what) {
    for (uint64_t i = 0; i < what->sends; ++i)
        memcpy(what->from + i * of->hidden, of->x + (uint64_t)what->sent[i].token * of->hidden,
               of->hidden * sizeof *of->x);
}

/* Whether the rows are the tokens that they should be; says which is not. */
static inline int moe_rows_are(const struct moe_bench* of, const uint16_t* rows,
                               const struct moe_copy* wanted, uint64_t count) {
    uint16_t* row = moe_memory(of->hidden * sizeof *row);
    uint64_t i = 0;
    for (; i < count; ++i) {
        moe_write_row(of, row, wanted[i].source, wanted[i].token, 1);
        if (memcmp(rows + i * of->hidden, row, of->hidden * sizeof *row) != 0) break;
    }
    free(row);
    if (i == count) return 1;
    fprintf(stderr, "rank %u: row %llu is not token %u of rank %u\n", of->rank,
            (unsigned long long)i, wanted[i].token, wanted[i].source);
    return 0;
}

/* ------------------------------------------------------------------ what the links carry */

/* The most bytes that a node has to send, or to get: a copy for each choice, or for each node. */
static inline double moe_crossing(const struct moe_bench* of, int for_each_choice) {
    const uint32_t nodes = (of->ranks + of->per_node - 1) / of->per_node;
    uint64_t* out = moe_memory(nodes * sizeof *out);
    uint64_t* in = moe_memory(nodes * sizeof *in);
    uint32_t* seen = moe_memory(nodes * sizeof *seen); /* by which token last, from 1 on */
    uint32_t number = 0;
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < of->ranks; ++rank) {
        const uint32_t here = rank / of->per_node;
        for (uint32_t t = 0; t < of->tokens; ++t) {
            ++number;
            for (uint32_t j = 0; j < of->k; ++j) {
                const uint32_t there = moe_owner(of, moe_chosen(of, rank, t)[j]) / of->per_node;
                if (there == here || (!for_each_choice && seen[there] == number)) continue;
                seen[there] = number;
                ++out[here];
                ++in[there];
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
    return (double)most * of->hidden * sizeof(uint16_t);
}

struct moe_counters {
    double got, sent;
};

/* What went over the device since it was made, in this process's network namespace. */
static inline struct moe_counters moe_device_bytes(const struct moe_bench* of) {
    struct moe_counters found = {0, 0};
    char line[512];
    FILE* file;
    if (of->device == NULL) return found;
    file = fopen("/proc/self/net/dev", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char* name = line + strspn(line, " ");
        char* colon = strchr(name, ':');
        if (colon == NULL) continue;
        *colon = '\0';
        if (strcmp(name, of->device) != 0) continue;
        if (sscanf(colon + 1, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", &found.got, &found.sent) != 2)
            break;
        fclose(file);
        return found;
    }
    fprintf(stderr, "rank %u: there is no network device %s here\n", of->rank, of->device);
    exit(1);
}

/* ------------------------------------------------------------------ the loop */

static inline int moe_by_value(const void* a, const void* b) {
    const double one = *(const double*)a, two = *(const double*)b;
    return (one > two) - (one < two);
}

struct moe_case {
    const char* what;
    double crossing;     /* of moe_crossing() */
    void (*write)(void); /* the input, anew before each call */
    void (*call)(void);  /* is timed */
    void (*clear)(void); /* the output, before the last call */
    int (*right)(void);  /* the output, after the last call */
};

static inline void moe_print_header(const struct moe_bench* of) {
    if (of->rank == 0)
        puts("what,ranks,iterations,min_us,median_us,max_us,crossing_bytes,device_bytes");
}

/* Seconds of one call. */
static inline double moe_iterate(struct moe_bench* of, const struct moe_case* what) {
    ++of->turn;
    what->write();
    of->barrier();
    const double begin = moe_now();
    what->call();
    return moe_now() - begin;
}

/* An iteration takes as long as its slowest rank. Ends the program where something was wrong. */
static inline void moe_measure(struct moe_bench* of, const struct moe_case* what) {
    const int n = of->iterations;
    double* times = moe_memory((uint64_t)n * sizeof *times);
    double found[2];
    struct moe_counters before, after;
    (void)moe_iterate(of, what); /* connects, and gets memory */
    of->barrier();
    before = moe_device_bytes(of);
    for (int i = 0; i < n; ++i) {
        if (i == n - 1) what->clear();
        times[i] = moe_iterate(of, what);
    }
    of->barrier();
    after = moe_device_bytes(of);
    found[0] = !what->right();
    found[1] = after.sent - before.sent;
    if (after.got - before.got > found[1]) found[1] = after.got - before.got;
    of->largest(found, 2);
    of->largest(times, n);
    if (found[0] != 0) {
        if (of->rank == 0) fprintf(stderr, "%s: what came is wrong\n", what->what);
        exit(1);
    }
    if (of->rank == 0) {
        qsort(times, (size_t)n, sizeof *times, moe_by_value);
        printf("%s,%u,%d,%.1f,%.1f,%.1f,%.0f,%.0f\n", what->what, of->ranks, n, times[0] * 1e6,
               (times[(n - 1) / 2] + times[n / 2]) * 0.5e6, times[n - 1] * 1e6, what->crossing,
               found[1] / n);
        fflush(stdout);
    }
    free(times);
}

#endif
