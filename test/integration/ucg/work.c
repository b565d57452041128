/*
 * Processes that run random collectives and check every result. One of them may be killed at a
 * random time; then all others must end with an error soon.
 *
 *   ucg_work RANKS PER_NODE SECONDS [kill|kill0] [tcp]
 *
 * kill0 kills rank 0. With tcp the ranks find each other by a store in rank 0. PER_NODE ranks share
 * a node, selected by the node's name. The operations are the same on all ranks: they come from a
 * common seed, which is printed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucg/api/ucg.h>
#include <unistd.h>

enum { MOST = 60000, WINDOW = 3, PATIENCE = 30 };

static uint64_t state;

static uint32_t next(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct job {
    ucg_request_h request;
    ucg_coll_args_t args;
    int64_t *from, *into;
    uint64_t salt;
};

static int64_t value(uint64_t salt, uint32_t rank, uint64_t i) {
    return (int64_t)((salt + 31 * rank + 7 * i) % 100003);
}

/* Expected element i of the output of `rank`, with `size` ranks. */
static int64_t expected(const struct job* job, uint32_t rank, uint32_t size, uint64_t i) {
    const uint64_t count = job->args.count;
    int64_t sum = 0;
    switch (job->args.coll) {
        case UCG_COLL_BCAST:
            return value(job->salt, job->args.root, i);
        case UCG_COLL_ALLGATHER:
            return value(job->salt, (uint32_t)(i / count), i % count);
        case UCG_COLL_ALLTOALL:
            return value(job->salt, (uint32_t)(i / count), rank * count + i % count);
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            i += rank * count;
            break;
        default:
            break;
    }
    for (uint32_t each = 0; each < size; ++each)
        sum += value(job->salt, each, i);
    return sum;
}

static uint64_t length_of(const struct job* job, uint32_t size, int output) {
    switch (job->args.coll) {
        case UCG_COLL_BARRIER:
            return 0;
        case UCG_COLL_ALLGATHER:
            return output ? job->args.count * size : job->args.count;
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            return output ? job->args.count : job->args.count * size;
        case UCG_COLL_ALLTOALL:
            return job->args.count * size;
        default:
            return job->args.count;
    }
}

static ucs_status_t begin(ucg_group_h group, struct job* job, uint32_t rank, uint32_t size) {
    static const ucg_coll_t kinds[] = {UCG_COLL_BARRIER,   UCG_COLL_BCAST,
                                       UCG_COLL_ALLREDUCE, UCG_COLL_REDUCE,
                                       UCG_COLL_ALLGATHER, UCG_COLL_REDUCE_SCATTER_BLOCK,
                                       UCG_COLL_ALLTOALL};
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = kinds[next(sizeof kinds / sizeof *kinds)];
    args.count = next(4) == 0 ? next(MOST / size) : next(300 / size + 1);
    args.type = UCG_TYPE_INT64;
    args.root = next(size);
    job->salt = next(1u << 30);
    args.src = job->from;
    args.dst = job->into;
    job->args = args;
    for (uint64_t i = 0; i < length_of(job, size, 0); ++i)
        (args.coll == UCG_COLL_BCAST ? job->into : job->from)[i] = value(job->salt, rank, i);
    if (args.coll != UCG_COLL_BCAST) memset(job->into, 0xee, MOST * sizeof *job->into);
    const ucs_status_t refused = ucg_request_init(group, &job->args, &job->request);
    const ucs_status_t status = job->request != NULL ? ucg_request_start(job->request) : UCS_OK;
    return refused != UCS_OK ? refused : status;
}

static ucs_status_t finish(struct job* job, uint32_t rank, uint32_t size) {
    ucs_status_t status = ucg_request_wait(job->request);
    if (ucg_request_free(job->request) != UCS_OK) exit(3);
    job->request = NULL;
    if (status != UCS_OK) return status;
    const int has_output = job->args.coll != UCG_COLL_REDUCE || rank == job->args.root;
    for (uint64_t i = 0; has_output && i < length_of(job, size, 1); ++i) {
        if (job->into[i] == expected(job, rank, size, i)) continue;
        fprintf(stderr, "rank %u: %s of %llu, root %u: element %llu is %lld, not %lld\n", rank,
                ucg_coll_name(job->args.coll), (unsigned long long)job->args.count, job->args.root,
                (unsigned long long)i, (long long)job->into[i],
                (long long)expected(job, rank, size, i));
        exit(2);
    }
    return UCS_OK;
}

/* Returns 0 on success, 4 if an operation failed. */
static int work(ucg_oob_t* oob, double seconds) {
    ucg_context_h context = NULL;
    ucg_group_h group = NULL;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    struct job jobs[WINDOW] = {{0}};
    const uint32_t rank = oob->rank, size = oob->size;
    params.oob = oob;
    params.timeout = PATIENCE;
    if (ucg_context_create(NULL, &context) != UCS_OK) return 5;
    if (ucg_group_create(context, &params, &group) != UCS_OK) return 5;
    ucs_status_t status = ucg_group_wait(group);
    const double until = now() + seconds;
    unsigned begun = 0, ended = 0;
    for (int i = 0; i < WINDOW; ++i) {
        jobs[i].from = malloc(MOST * sizeof *jobs[i].from);
        jobs[i].into = malloc(MOST * sizeof *jobs[i].into);
    }
    int64_t go_on = 1;
    while (status == UCS_OK && go_on != 0) {
        while (status == UCS_OK && begun - ended < WINDOW)
            status = begin(group, &jobs[begun++ % WINDOW], rank, size);
        while (status == UCS_OK && ended != begun)
            status = finish(&jobs[ended++ % WINDOW], rank, size);
        int64_t own = now() < until;
        if (status == UCS_OK)
            status = ucg_allreduce(group, &own, &go_on, 1, UCG_TYPE_INT64, UCG_OP_MIN);
    }
    /* Pending operations must end, too. */
    for (int i = 0; i < WINDOW; ++i) {
        if (jobs[i].request != NULL) {
            (void)ucg_request_wait(jobs[i].request);
            if (ucg_request_free(jobs[i].request) != UCS_OK) return 3;
        }
        free(jobs[i].from);
        free(jobs[i].into);
    }
    if (rank == 0) printf("%u operations, %s\n", begun, ucs_status_string(status));
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    ucg_oob_destroy(oob);
    return status == UCS_OK ? 0 : 4;
}

/* A free port below the range of ephemeral ports. */
static uint16_t free_port(void) {
    for (;;) {
        const uint16_t port = (uint16_t)(15000 + next(17000));
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
        const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int is_free =
            probe >= 0 && bind(probe, (struct sockaddr*)&address, sizeof address) == 0;
        close(probe);
        if (is_free) return port;
    }
}

static ucg_oob_t* over_tcp(uint32_t rank, uint32_t size, uint16_t port) {
    ucg_oob_tcp_params_t params = UCG_OOB_TCP_PARAMS_INIT;
    ucg_oob_t* oob = NULL;
    params.rank = rank;
    params.size = size;
    params.host = "127.0.0.1";
    params.port = port;
    if (ucg_oob_create_tcp(&params, &oob) != UCS_OK) exit(6);
    return oob;
}

static int has_word(int argc, char** argv, const char* word) {
    for (int i = 4; i < argc; ++i)
        if (strcmp(argv[i], word) == 0) return 1;
    return 0;
}

int main(int argc, char** argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: ucg_work RANKS PER_NODE SECONDS [kill|kill0] [tcp]\n");
        return 1;
    }
    const uint32_t size = (uint32_t)atoi(argv[1]), per_node = (uint32_t)atoi(argv[2]);
    const double seconds = atof(argv[3]);
    const int kills_first = has_word(argc, argv, "kill0");
    const int kills = kills_first || has_word(argc, argv, "kill");
    const int uses_tcp = has_word(argc, argv, "tcp");
    const char* seed = getenv("UCG_WORK_SEED");
    state =
        seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
    printf("UCG_WORK_SEED=%llu\n", (unsigned long long)state);
    fflush(stdout);

    const uint32_t victim = kills_first ? 0 : next(size);
    const long after_us = 1000 * (long)next((uint32_t)(seconds * 1000));
    const int in_domains = (int)next(2);
    /* Each rank ends its own group. Copies of the other ranks' memory stay reachable, which is
     * not a leak. */
    static ucg_oob_t* oobs[64];
    if (size == 0 || size > 64) return 1;
    if (!uses_tcp && ucg_oob_create_local(size, oobs) != UCS_OK) return 1;
    const uint16_t port = uses_tcp ? free_port() : 0;
    pid_t children[64];
    for (uint32_t rank = 0; rank < size; ++rank) {
        children[rank] = fork();
        if (children[rank] != 0) continue;
        char name[32];
        snprintf(name, sizeof name, "node%u", rank / per_node);
        setenv("UCG_NODE_ID", name, 1);
        if (in_domains) setenv("UCG_NUMA_ID", rank % per_node < per_node / 2 ? "0" : "1", 1);
        if (uses_tcp) oobs[rank] = over_tcp(rank, size, port);
        if (kills && rank == victim) {
            /* SIGALRM kills a hanging process. */
            const struct itimerval timer = {{0, 0}, {after_us / 1000000, after_us % 1000000 + 1}};
            setitimer(ITIMER_REAL, &timer, NULL);
            return work(oobs[rank], 1e6);
        }
        alarm((unsigned)seconds + 2 * PATIENCE);
        return work(oobs[rank], kills ? 1e6 : seconds);
    }
    int failed = 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
        int status = 0;
        waitpid(children[rank], &status, 0);
        const int dies = kills && rank == victim;
        const int right = dies    ? WIFSIGNALED(status)
                          : kills ? WIFEXITED(status) && WEXITSTATUS(status) == 4
                                  : WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (right) continue;
        failed = 1;
        fprintf(stderr, "rank %u ended with %s %d\n", rank, WIFSIGNALED(status) ? "signal" : "code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return failed;
}
