/*
 * Every blocking call of ucg.h by ranks that are processes, each element of each result compared.
 *
 *   ucg_calls RANKS PER_NODE [alone]
 *
 * PER_NODE ranks share a node, which the name of the node says. With `alone` the last rank does not
 * come to a barrier that has a time limit, and the others must be told so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucg/api/ucg.h>
#include <unistd.h>

/* A rank waits at most LIMIT seconds for anything; GUARD elements behind a buffer, and GAP between
 * blocks, must stay as they were. */
enum { MOST_RANKS = 64, LIMIT = 110, GUARD = 8, GAP = 3 };
static const int64_t untouched = 0x5a5a5a5a5a5a5a5a;

/* What all processes see. */
static struct {
    _Atomic uint64_t arrived;
    pthread_barrier_t together;
} * shared;

/* One operation, as all ranks know it. */
struct turn {
    ucg_group_h group;
    uint32_t rank, size, root;
    uint64_t round, count;
    ucg_coll_t coll;
    ucg_op_t op;
    int in_place; /* this rank's input is where its output goes */
    int general;  /* it is called by ucg_collective() */
};

static void fail(const struct turn* of, const char* what, uint64_t i, int64_t got, int64_t wanted) {
    fprintf(stderr,
            "rank %u: %s%s of %llu, %s, root %u, round %llu, %s: %s: element %llu is %lld, not "
            "%lld\n",
            of->rank, of->general ? "ucg_collective() " : "", ucg_coll_name(of->coll),
            (unsigned long long)of->count, ucg_op_name(of->op), of->root,
            (unsigned long long)of->round, of->in_place ? "in place" : "not in place", what,
            (unsigned long long)i, (long long)got, (long long)wanted);
    exit(2);
}

static void compare(const struct turn* of, const char* what, uint64_t i, int64_t got,
                    int64_t wanted) {
    if (got != wanted) fail(of, what, i, got, wanted);
}

static void require(const struct turn* of, ucs_status_t got, ucs_status_t wanted) {
    if (got == wanted) return;
    fprintf(stderr, "rank %u: %s of %llu ended with \"%s\", not \"%s\"\n", of->rank,
            ucg_coll_name(of->coll), (unsigned long long)of->count, ucs_status_string(got),
            ucs_status_string(wanted));
    exit(3);
}

/* Element i of what `rank` gives. */
static int64_t value(const struct turn* of, uint32_t rank, uint64_t i) {
    return (int64_t)((1009 * of->round + 131 * rank + 7 * i + 17 * (uint64_t)of->coll) % 65521) -
           30000;
}

/* Element i of ranks first .. last - 1, reduced. */
static int64_t reduced(const struct turn* of, uint32_t first, uint32_t last, uint64_t i) {
    int64_t all = value(of, first, i);
    for (uint32_t each = first + 1; each < last; ++each) {
        const int64_t next = value(of, each, i);
        if (of->op == UCG_OP_SUM)
            all += next;
        else if (of->op == UCG_OP_MAX ? next > all : next < all)
            all = next;
    }
    return all;
}

static int64_t* buffer(uint64_t length) {
    int64_t* const made = malloc((length + GUARD) * sizeof *made);
    if (made == NULL) exit(5);
    for (uint64_t i = 0; i < length + GUARD; ++i)
        made[i] = untouched;
    return made;
}

static void check_untouched(const struct turn* of, const char* what, const int64_t* in,
                            uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i)
        compare(of, what, i, in[i], untouched);
}

/* ------------------------------------------------------------ operations of equal blocks */

static const ucg_coll_t equal_blocks[] = {
    UCG_COLL_BCAST,   UCG_COLL_REDUCE,    UCG_COLL_ALLREDUCE, UCG_COLL_GATHER,
    UCG_COLL_SCATTER, UCG_COLL_ALLGATHER, UCG_COLL_ALLTOALL,  UCG_COLL_REDUCE_SCATTER_BLOCK,
    UCG_COLL_SCAN,    UCG_COLL_EXSCAN};

static uint64_t input_length(const struct turn* of) {
    const int root = of->rank == of->root;
    switch (of->coll) {
        case UCG_COLL_BCAST:
            return root ? of->count : 0;
        case UCG_COLL_SCATTER:
            return root ? of->count * of->size : 0;
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
        case UCG_COLL_ALLTOALL:
            return of->count * of->size;
        default:
            return of->count;
    }
}

static uint64_t output_length(const struct turn* of) {
    const int root = of->rank == of->root;
    switch (of->coll) {
        case UCG_COLL_REDUCE:
            return root ? of->count : 0;
        case UCG_COLL_GATHER:
            return root ? of->count * of->size : 0;
        case UCG_COLL_ALLGATHER:
        case UCG_COLL_ALLTOALL:
            return of->count * of->size;
        default:
            return of->count;
    }
}

/* Element i of this rank's result. */
static int64_t expected(const struct turn* of, uint64_t i) {
    const uint64_t mine = of->rank * of->count;
    switch (of->coll) {
        case UCG_COLL_BCAST:
            return value(of, of->root, i);
        case UCG_COLL_GATHER:
        case UCG_COLL_ALLGATHER:
            return value(of, (uint32_t)(i / of->count), i % of->count);
        case UCG_COLL_SCATTER:
            return value(of, of->root, mine + i);
        case UCG_COLL_ALLTOALL:
            return value(of, (uint32_t)(i / of->count), mine + i % of->count);
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            return reduced(of, 0, of->size, mine + i);
        case UCG_COLL_SCAN:
            return reduced(of, 0, of->rank + 1, i);
        case UCG_COLL_EXSCAN:
            return reduced(of, 0, of->rank, i);
        default:
            return reduced(of, 0, of->size, i);
    }
}

static void not_called(ucg_request_h request, ucs_status_t status, void* arg) {
    (void)request;
    (void)status;
    (void)arg;
    fprintf(stderr, "a blocking call called its callback\n");
    exit(2);
}

static ucg_coll_args_t arguments(const struct turn* of, const void* src, void* dst) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = of->coll;
    args.src = src;
    args.dst = dst;
    args.count = of->count;
    args.type = UCG_TYPE_INT64;
    args.root = of->root;
    args.op = of->op;
    args.callback = not_called;
    return args;
}

static ucs_status_t call(const struct turn* of, const void* src, void* dst) {
    const ucg_type_t type = UCG_TYPE_INT64;
    if (of->general) {
        ucg_coll_args_t args = arguments(of, src, dst);
        if (of->in_place) args.flags = UCG_COLL_IN_PLACE;
        return ucg_collective(of->group, &args);
    }
    if (of->in_place && of->coll == UCG_COLL_SCATTER)
        dst = UCG_IN_PLACE;
    else if (of->in_place)
        src = UCG_IN_PLACE;
    switch (of->coll) {
        case UCG_COLL_BARRIER:
            return ucg_barrier(of->group);
        case UCG_COLL_BCAST:
            return ucg_bcast(of->group, dst, of->count, type, of->root);
        case UCG_COLL_REDUCE:
            return ucg_reduce(of->group, src, dst, of->count, type, of->op, of->root);
        case UCG_COLL_ALLREDUCE:
            return ucg_allreduce(of->group, src, dst, of->count, type, of->op);
        case UCG_COLL_GATHER:
            return ucg_gather(of->group, src, dst, of->count, type, of->root);
        case UCG_COLL_SCATTER:
            return ucg_scatter(of->group, src, dst, of->count, type, of->root);
        case UCG_COLL_ALLGATHER:
            return ucg_allgather(of->group, src, dst, of->count, type);
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            return ucg_reduce_scatter_block(of->group, src, dst, of->count, type, of->op);
        case UCG_COLL_ALLTOALL:
            return ucg_alltoall(of->group, src, dst, of->count, type);
        case UCG_COLL_SCAN:
            return ucg_scan(of->group, src, dst, of->count, type, of->op);
        case UCG_COLL_EXSCAN:
            return ucg_exscan(of->group, src, dst, of->count, type, of->op);
        default:
            return UCS_ERR_UNSUPPORTED;
    }
}

/* Whether this rank can have its input where its output goes; of some operations only the root. */
static int may_be_in_place(const struct turn* of) {
    switch (of->coll) {
        case UCG_COLL_BCAST:
            return 0;
        case UCG_COLL_REDUCE:
        case UCG_COLL_GATHER:
        case UCG_COLL_SCATTER:
            return of->rank == of->root;
        default:
            return 1;
    }
}

static void do_equal_blocks(const struct turn* of) {
    const uint64_t given = input_length(of), got = output_length(of);
    const int stays = of->in_place && of->coll == UCG_COLL_SCATTER;
    const int same = of->coll == UCG_COLL_BCAST || (of->in_place && !stays);
    /* In place a block lies where the gathered one of this rank belongs, all else at the begin. */
    const uint64_t offset = of->in_place && given < got ? of->rank * of->count : 0;
    const uint64_t into_length = same && given > got ? given : got;
    int64_t* const into = buffer(into_length);
    int64_t* const from = same ? into + offset : buffer(given);
    for (uint64_t i = 0; i < given; ++i)
        from[i] = value(of, of->rank, i);

    require(of, call(of, same ? NULL : from, stays ? NULL : into), UCS_OK);

    const int defined = !stays && (of->coll != UCG_COLL_EXSCAN || of->rank != 0);
    for (uint64_t i = 0; defined && i < got; ++i)
        compare(of, "result", i, into[i], expected(of, i));
    check_untouched(of, "behind the result", into, into_length, into_length + GUARD);
    if (!same) {
        for (uint64_t i = 0; i < given; ++i)
            compare(of, "input", i, from[i], value(of, of->rank, i));
        check_untouched(of, "behind the input", from, given, given + GUARD);
        free(from);
    }
    free(into);
}

/* ------------------------------------------------------------ operations of blocks of any length
 */

static const ucg_coll_t any_blocks[] = {UCG_COLL_GATHERV, UCG_COLL_SCATTERV, UCG_COLL_ALLGATHERV,
                                        UCG_COLL_REDUCE_SCATTER, UCG_COLL_ALLTOALLV};

/* How much one rank has for another one; for some nothing. */
static uint64_t share(const struct turn* of, uint32_t from, uint32_t to) {
    return (2 * from + to + of->round) % of->size * of->count / of->size;
}

/* One rank's input or output: a block for each rank, or one only. */
struct side {
    uint64_t counts[MOST_RANKS], displs[MOST_RANKS], length;
    uint32_t blocks;
};

/* Puts another block behind those that are there. */
static void add(struct side* to, uint64_t count, uint64_t gap) {
    to->counts[to->blocks] = count;
    to->displs[to->blocks++] = to->length;
    to->length += count + gap;
}

static struct side input(const struct turn* of, uint32_t rank) {
    struct side made = {.length = 0, .blocks = 0};
    const int all = of->coll == UCG_COLL_ALLTOALLV || of->coll == UCG_COLL_REDUCE_SCATTER ||
                    (of->coll == UCG_COLL_SCATTERV && rank == of->root);
    if (of->coll == UCG_COLL_GATHERV || of->coll == UCG_COLL_ALLGATHERV)
        add(&made, share(of, rank, of->root), 0);
    for (uint32_t to = 0; all && to < of->size; ++to)
        add(&made, share(of, of->coll == UCG_COLL_ALLTOALLV ? rank : of->root, to),
            of->coll == UCG_COLL_REDUCE_SCATTER ? 0 : GAP);
    return made;
}

static struct side output(const struct turn* of) {
    struct side made = {.length = 0, .blocks = 0};
    const int all = of->coll == UCG_COLL_ALLTOALLV || of->coll == UCG_COLL_ALLGATHERV ||
                    (of->coll == UCG_COLL_GATHERV && of->rank == of->root);
    if (of->coll == UCG_COLL_SCATTERV || of->coll == UCG_COLL_REDUCE_SCATTER)
        add(&made, share(of, of->root, of->rank), 0);
    for (uint32_t from = 0; all && from < of->size; ++from)
        add(&made, share(of, from, of->coll == UCG_COLL_ALLTOALLV ? of->rank : of->root), GAP);
    return made;
}

/* Element i of the block that comes from `from`. */
static int64_t expected_of(const struct turn* of, uint32_t from, uint64_t i) {
    const struct side theirs = input(of, from);
    switch (of->coll) {
        case UCG_COLL_SCATTERV:
        case UCG_COLL_ALLTOALLV:
            return value(of, from, theirs.displs[of->rank] + i);
        case UCG_COLL_REDUCE_SCATTER:
            return reduced(of, 0, of->size, theirs.displs[of->rank] + i);
        default:
            return value(of, from, i);
    }
}

static void do_any_blocks(const struct turn* of) {
    /* The arrays are gone, and others are in their place, at the next call. */
    const struct side given = input(of, of->rank), got = output(of);
    int64_t* const from = buffer(given.length);
    int64_t* const into = buffer(got.length);
    for (uint64_t i = 0; i < given.length; ++i)
        from[i] = value(of, of->rank, i);
    ucg_coll_args_t args = arguments(of, from, into);
    args.src_counts = given.counts;
    args.src_displs = given.displs;
    args.dst_counts = got.counts;
    args.dst_displs = got.displs;
    if (of->coll == UCG_COLL_GATHERV) args.count = given.counts[0];
    if (of->coll == UCG_COLL_SCATTERV) args.count = got.counts[0];
    if (of->coll == UCG_COLL_REDUCE_SCATTER) {
        args.dst_counts = given.counts;
        args.dst_displs = NULL;
    }
    require(of, ucg_collective(of->group, &args), UCS_OK);

    uint64_t end = 0;
    for (uint32_t block = 0; block < got.blocks; ++block) {
        const uint32_t sender = got.blocks == of->size && of->coll != UCG_COLL_SCATTERV &&
                                        of->coll != UCG_COLL_REDUCE_SCATTER
                                    ? block
                                    : of->root;
        check_untouched(of, "between blocks", into, end, got.displs[block]);
        for (uint64_t i = 0; i < got.counts[block]; ++i)
            compare(of, "result", got.displs[block] + i, into[got.displs[block] + i],
                    expected_of(of, sender, i));
        end = got.displs[block] + got.counts[block];
    }
    check_untouched(of, "behind the result", into, end, got.length + GUARD);
    for (uint64_t i = 0; i < given.length; ++i)
        compare(of, "input", i, from[i], value(of, of->rank, i));
    check_untouched(of, "behind the input", from, given.length, given.length + GUARD);
    free(from);
    free(into);
}

/* ------------------------------------------------------------ what ranks do */

/* After a barrier all have counted, and none has twice more than this one. */
static void do_barriers(struct turn* of) {
    of->coll = UCG_COLL_BARRIER;
    of->in_place = 0;
    of->count = 0;
    for (of->round = 0; of->round < 60; ++of->round) {
        of->general = of->round % 3 == 2;
        /* One is late, so that who does not wait for it is caught. */
        if (of->round % of->size == of->rank) usleep(1000);
        atomic_fetch_add(&shared->arrived, 1);
        require(of, call(of, NULL, NULL), UCS_OK);
        const uint64_t arrived = atomic_load(&shared->arrived);
        const uint64_t least = (of->round + 1) * of->size;
        if (arrived < least || arrived >= least + of->size)
            fail(of, "ranks that arrived", 0, (int64_t)arrived, (int64_t)least);
    }
}

static void do_without_group(struct turn of) {
    int64_t some[2] = {0, 0};
    of.group = NULL;
    of.count = 1;
    for (of.general = 0; of.general < 2; ++of.general) {
        of.coll = UCG_COLL_BARRIER;
        require(&of, call(&of, NULL, NULL), UCS_ERR_INVALID_PARAM);
        for (size_t kind = 0; kind < sizeof equal_blocks / sizeof *equal_blocks; ++kind) {
            of.coll = equal_blocks[kind];
            require(&of, call(&of, &some[0], &some[1]), UCS_ERR_INVALID_PARAM);
        }
    }
}

static void do_all(struct turn* of, uint64_t count, uint64_t rounds) {
    static const ucg_op_t ops[] = {UCG_OP_SUM, UCG_OP_MAX, UCG_OP_MIN};
    of->count = count;
    for (of->round = 0; of->round < rounds; ++of->round) {
        of->op = ops[of->round % (sizeof ops / sizeof *ops)];
        of->root = (uint32_t)((of->round + of->round / 2) % of->size);
        for (size_t kind = 0; kind < sizeof equal_blocks / sizeof *equal_blocks; ++kind) {
            of->coll = equal_blocks[kind];
            for (int way = 0; way < 4; ++way) {
                of->general = way % 2;
                of->in_place = way / 2 && may_be_in_place(of);
                do_equal_blocks(of);
            }
        }
        of->general = 1;
        of->in_place = 0;
        for (size_t kind = 0; kind < sizeof any_blocks / sizeof *any_blocks; ++kind) {
            of->coll = any_blocks[kind];
            do_any_blocks(of);
        }
    }
}

/* The last rank does not come, and lives until the others were told so: that one has left would be
 * another reason. */
static void do_alone(struct turn* of) {
    of->coll = UCG_COLL_BARRIER;
    if (of->rank != of->size - 1) require(of, ucg_barrier(of->group), UCS_ERR_TIMED_OUT);
    pthread_barrier_wait(&shared->together);
}

static int work(ucg_oob_t* oob, int alone) {
    struct turn turn = {.rank = oob->rank, .size = oob->size, .op = UCG_OP_SUM};
    ucg_context_h context = NULL;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = oob;
    params.timeout = LIMIT;
    if (ucg_context_create(NULL, &context) != UCS_OK) return 5;
    if (ucg_group_create(context, &params, &turn.group) != UCS_OK) return 5;
    if (ucg_group_wait(turn.group) != UCS_OK) return 5;
    if (alone) {
        do_alone(&turn);
    } else {
        do_without_group(turn);
        do_barriers(&turn);
        do_all(&turn, 5, 7);
        do_all(&turn, 40000, 2);
        do_all(&turn, 0, 1);
        /* Those prepared for one length serve it again between calls of others. */
        do_all(&turn, 1, 2);
        do_all(&turn, 5, 2);
    }
    ucg_group_destroy(turn.group);
    ucg_context_destroy(context);
    ucg_oob_destroy(oob);
    return 0;
}

static void share_memory(uint32_t size) {
    pthread_barrierattr_t attr;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pthread_barrierattr_init(&attr) != 0 ||
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_barrier_init(&shared->together, &attr, size) != 0) {
        fprintf(stderr, "there is no shared memory\n");
        exit(1);
    }
}

int main(int argc, char** argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: ucg_calls RANKS PER_NODE [alone]\n");
        return 1;
    }
    const uint32_t size = (uint32_t)atoi(argv[1]), per_node = (uint32_t)atoi(argv[2]);
    const int alone = argc > 3;
    /* Each rank ends its own; copies of the others' stay reachable, which is no leak. */
    static ucg_oob_t* oobs[MOST_RANKS];
    if (size < 2 || size > MOST_RANKS || per_node == 0) return 1;
    if (ucg_oob_create_local(size, oobs) != UCS_OK) return 1;
    share_memory(size);
    if (alone)
        setenv("UCG_TIMEOUT", "1s", 1);
    else
        unsetenv("UCG_TIMEOUT");
    pid_t children[MOST_RANKS];
    for (uint32_t rank = 0; rank < size; ++rank) {
        children[rank] = fork();
        if (children[rank] != 0) continue;
        char name[32];
        snprintf(name, sizeof name, "node%u", rank / per_node);
        setenv("UCG_NODE_ID", name, 1);
        alarm(LIMIT);
        return work(oobs[rank], alone);
    }
    int failed = 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
        int status = 0;
        waitpid(children[rank], &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        failed = 1;
        fprintf(stderr, "rank %u ended with %s %d\n", rank, WIFSIGNALED(status) ? "signal" : "code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return failed;
}
