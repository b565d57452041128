/*
 * Calls every blocking function of ucg.h in several processes and compares each element of each
 * result.
 *
 *   ucg_calls RANKS PER_NODE [alone]
 *
 * PER_NODE ranks share a node, selected by the node's name. With `alone` the last rank does not
 * enter a barrier with a time limit, and the others must get an error.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucg/api/ucg.h>
#include <unistd.h>

/* A rank waits at most LIMIT seconds for an operation. GUARD elements behind a buffer and GAP
 * elements between blocks must not change. */
enum { MOST_RANKS = 64, LIMIT = 110, GUARD = 8, GAP = 3 };
static const int64_t untouched = 0x5a5a5a5a5a5a5a5a;

/* Memory that all processes share. */
static struct {
    _Atomic uint64_t arrived;
    pthread_barrier_t together;
} * shared;

/* One operation, with the same values on all ranks. */
struct turn {
    ucg_group_h group;
    uint32_t rank, size, root;
    uint64_t round, count;
    ucg_coll_t coll;
    ucg_op_t op;
    int in_place; /* the input of this rank is in its output buffer */
    int general;  /* called by ucg_collective() */
};

static void fail(const struct turn* turn, const char* operation, uint64_t i, int64_t got,
                 int64_t wanted) {
    fprintf(stderr,
            "rank %u: %s%s of %llu, %s, root %u, round %llu, %s: %s: element %llu is %lld, not "
            "%lld\n",
            turn->rank, turn->general ? "ucg_collective() " : "", ucg_coll_name(turn->coll),
            (unsigned long long)turn->count, ucg_op_name(turn->op), turn->root,
            (unsigned long long)turn->round, turn->in_place ? "in place" : "not in place",
            operation, (unsigned long long)i, (long long)got, (long long)wanted);
    exit(2);
}

static void compare(const struct turn* turn, const char* operation, uint64_t i, int64_t got,
                    int64_t wanted) {
    if (got != wanted) fail(turn, operation, i, got, wanted);
}

static void require(const struct turn* turn, ucs_status_t got, ucs_status_t wanted) {
    if (got == wanted) return;
    fprintf(stderr, "rank %u: %s of %llu ended with \"%s\", not \"%s\"\n", turn->rank,
            ucg_coll_name(turn->coll), (unsigned long long)turn->count, ucs_status_string(got),
            ucs_status_string(wanted));
    exit(3);
}

/* Element i of the input of `rank`. */
static int64_t value(const struct turn* turn, uint32_t rank, uint64_t i) {
    return (int64_t)((1009 * turn->round + 131 * rank + 7 * i + 17 * (uint64_t)turn->coll) %
                     65521) -
           30000;
}

/* Element i of ranks first .. last - 1, reduced. */
static int64_t reduced(const struct turn* turn, uint32_t first, uint32_t last, uint64_t i) {
    int64_t all = value(turn, first, i);
    for (uint32_t each = first + 1; each < last; ++each) {
        const int64_t next = value(turn, each, i);
        if (turn->op == UCG_OP_SUM)
            all += next;
        else if (turn->op == UCG_OP_MAX ? next > all : next < all)
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

static void check_untouched(const struct turn* turn, const char* name, const int64_t* in,
                            uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i)
        compare(turn, name, i, in[i], untouched);
}

/* ------------------------------------------------------------ operations of equal blocks */

static const ucg_coll_t equal_blocks[] = {
    UCG_COLL_BCAST,   UCG_COLL_REDUCE,    UCG_COLL_ALLREDUCE, UCG_COLL_GATHER,
    UCG_COLL_SCATTER, UCG_COLL_ALLGATHER, UCG_COLL_ALLTOALL,  UCG_COLL_REDUCE_SCATTER_BLOCK,
    UCG_COLL_SCAN,    UCG_COLL_EXSCAN};

static uint64_t input_length(const struct turn* turn) {
    const int root = turn->rank == turn->root;
    switch (turn->coll) {
        case UCG_COLL_BCAST:
            return root ? turn->count : 0;
        case UCG_COLL_SCATTER:
            return root ? turn->count * turn->size : 0;
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
        case UCG_COLL_ALLTOALL:
            return turn->count * turn->size;
        default:
            return turn->count;
    }
}

static uint64_t output_length(const struct turn* turn) {
    const int root = turn->rank == turn->root;
    switch (turn->coll) {
        case UCG_COLL_REDUCE:
            return root ? turn->count : 0;
        case UCG_COLL_GATHER:
            return root ? turn->count * turn->size : 0;
        case UCG_COLL_ALLGATHER:
        case UCG_COLL_ALLTOALL:
            return turn->count * turn->size;
        default:
            return turn->count;
    }
}

/* Element i of this rank's expected result. */
static int64_t expected(const struct turn* turn, uint64_t i) {
    const uint64_t own = turn->rank * turn->count;
    switch (turn->coll) {
        case UCG_COLL_BCAST:
            return value(turn, turn->root, i);
        case UCG_COLL_GATHER:
        case UCG_COLL_ALLGATHER:
            return value(turn, (uint32_t)(i / turn->count), i % turn->count);
        case UCG_COLL_SCATTER:
            return value(turn, turn->root, own + i);
        case UCG_COLL_ALLTOALL:
            return value(turn, (uint32_t)(i / turn->count), own + i % turn->count);
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            return reduced(turn, 0, turn->size, own + i);
        case UCG_COLL_SCAN:
            return reduced(turn, 0, turn->rank + 1, i);
        case UCG_COLL_EXSCAN:
            return reduced(turn, 0, turn->rank, i);
        default:
            return reduced(turn, 0, turn->size, i);
    }
}

static void not_called(ucg_request_h request, ucs_status_t status, void* arg) {
    (void)request;
    (void)status;
    (void)arg;
    fprintf(stderr, "a blocking call called its callback\n");
    exit(2);
}

static ucg_coll_args_t arguments(const struct turn* turn, const void* src, void* dst) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = turn->coll;
    args.src = src;
    args.dst = dst;
    args.count = turn->count;
    args.type = UCG_TYPE_INT64;
    args.root = turn->root;
    args.op = turn->op;
    args.callback = not_called;
    return args;
}

static ucs_status_t call(const struct turn* turn, const void* src, void* dst) {
    const ucg_type_t type = UCG_TYPE_INT64;
    if (turn->general) {
        ucg_coll_args_t args = arguments(turn, src, dst);
        if (turn->in_place) args.flags = UCG_COLL_IN_PLACE;
        return ucg_collective(turn->group, &args);
    }
    if (turn->in_place && turn->coll == UCG_COLL_SCATTER)
        dst = UCG_IN_PLACE;
    else if (turn->in_place)
        src = UCG_IN_PLACE;
    switch (turn->coll) {
        case UCG_COLL_BARRIER:
            return ucg_barrier(turn->group);
        case UCG_COLL_BCAST:
            return ucg_bcast(turn->group, dst, turn->count, type, turn->root);
        case UCG_COLL_REDUCE:
            return ucg_reduce(turn->group, src, dst, turn->count, type, turn->op, turn->root);
        case UCG_COLL_ALLREDUCE:
            return ucg_allreduce(turn->group, src, dst, turn->count, type, turn->op);
        case UCG_COLL_GATHER:
            return ucg_gather(turn->group, src, dst, turn->count, type, turn->root);
        case UCG_COLL_SCATTER:
            return ucg_scatter(turn->group, src, dst, turn->count, type, turn->root);
        case UCG_COLL_ALLGATHER:
            return ucg_allgather(turn->group, src, dst, turn->count, type);
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
            return ucg_reduce_scatter_block(turn->group, src, dst, turn->count, type, turn->op);
        case UCG_COLL_ALLTOALL:
            return ucg_alltoall(turn->group, src, dst, turn->count, type);
        case UCG_COLL_SCAN:
            return ucg_scan(turn->group, src, dst, turn->count, type, turn->op);
        case UCG_COLL_EXSCAN:
            return ucg_exscan(turn->group, src, dst, turn->count, type, turn->op);
        default:
            return UCS_ERR_UNSUPPORTED;
    }
}

/* Returns true if this rank may use its output buffer as input. In some operations only the root
 * may. */
static int may_be_in_place(const struct turn* turn) {
    switch (turn->coll) {
        case UCG_COLL_BCAST:
            return 0;
        case UCG_COLL_REDUCE:
        case UCG_COLL_GATHER:
        case UCG_COLL_SCATTER:
            return turn->rank == turn->root;
        default:
            return 1;
    }
}

static void do_equal_blocks(const struct turn* turn) {
    const uint64_t given = input_length(turn), got = output_length(turn);
    const int stays = turn->in_place && turn->coll == UCG_COLL_SCATTER;
    const int same = turn->coll == UCG_COLL_BCAST || (turn->in_place && !stays);
    /* In place, an input block lies at this rank's offset in the gathered output. Otherwise it
     * lies at the begin. */
    const uint64_t offset = turn->in_place && given < got ? turn->rank * turn->count : 0;
    const uint64_t into_length = same && given > got ? given : got;
    int64_t* const into = buffer(into_length);
    int64_t* const from = same ? into + offset : buffer(given);
    for (uint64_t i = 0; i < given; ++i)
        from[i] = value(turn, turn->rank, i);

    require(turn, call(turn, same ? NULL : from, stays ? NULL : into), UCS_OK);

    const int defined = !stays && (turn->coll != UCG_COLL_EXSCAN || turn->rank != 0);
    for (uint64_t i = 0; defined && i < got; ++i)
        compare(turn, "result", i, into[i], expected(turn, i));
    check_untouched(turn, "behind the result", into, into_length, into_length + GUARD);
    if (!same) {
        for (uint64_t i = 0; i < given; ++i)
            compare(turn, "input", i, from[i], value(turn, turn->rank, i));
        check_untouched(turn, "behind the input", from, given, given + GUARD);
        free(from);
    }
    free(into);
}

/* ------------------------------------------------------------ operations of blocks of any length
 */

static const ucg_coll_t any_blocks[] = {UCG_COLL_GATHERV, UCG_COLL_SCATTERV, UCG_COLL_ALLGATHERV,
                                        UCG_COLL_REDUCE_SCATTER, UCG_COLL_ALLTOALLV};

/* Number of elements that one rank has for another one; 0 for some. */
static uint64_t share(const struct turn* turn, uint32_t from, uint32_t to) {
    return (2 * from + to + turn->round) % turn->size * turn->count / turn->size;
}

/* Input or output of a rank: one block per rank, or one block only. */
struct side {
    uint64_t counts[MOST_RANKS], displs[MOST_RANKS], length;
    uint32_t blocks;
};

/* Appends a block. */
static void add(struct side* to, uint64_t count, uint64_t gap) {
    to->counts[to->blocks] = count;
    to->displs[to->blocks++] = to->length;
    to->length += count + gap;
}

static struct side input(const struct turn* turn, uint32_t rank) {
    struct side made = {.length = 0, .blocks = 0};
    const int all = turn->coll == UCG_COLL_ALLTOALLV || turn->coll == UCG_COLL_REDUCE_SCATTER ||
                    (turn->coll == UCG_COLL_SCATTERV && rank == turn->root);
    if (turn->coll == UCG_COLL_GATHERV || turn->coll == UCG_COLL_ALLGATHERV)
        add(&made, share(turn, rank, turn->root), 0);
    for (uint32_t to = 0; all && to < turn->size; ++to)
        add(&made, share(turn, turn->coll == UCG_COLL_ALLTOALLV ? rank : turn->root, to),
            turn->coll == UCG_COLL_REDUCE_SCATTER ? 0 : GAP);
    return made;
}

static struct side output(const struct turn* turn) {
    struct side made = {.length = 0, .blocks = 0};
    const int all = turn->coll == UCG_COLL_ALLTOALLV || turn->coll == UCG_COLL_ALLGATHERV ||
                    (turn->coll == UCG_COLL_GATHERV && turn->rank == turn->root);
    if (turn->coll == UCG_COLL_SCATTERV || turn->coll == UCG_COLL_REDUCE_SCATTER)
        add(&made, share(turn, turn->root, turn->rank), 0);
    for (uint32_t from = 0; all && from < turn->size; ++from)
        add(&made, share(turn, from, turn->coll == UCG_COLL_ALLTOALLV ? turn->rank : turn->root),
            GAP);
    return made;
}

/* Element i of the block from rank `from`. */
static int64_t expected_of(const struct turn* turn, uint32_t from, uint64_t i) {
    const struct side peer_side = input(turn, from);
    switch (turn->coll) {
        case UCG_COLL_SCATTERV:
        case UCG_COLL_ALLTOALLV:
            return value(turn, from, peer_side.displs[turn->rank] + i);
        case UCG_COLL_REDUCE_SCATTER:
            return reduced(turn, 0, turn->size, peer_side.displs[turn->rank] + i);
        default:
            return value(turn, from, i);
    }
}

static void do_any_blocks(const struct turn* turn) {
    /* The program overwrites the argument arrays after the call returns. */
    const struct side given = input(turn, turn->rank), got = output(turn);
    int64_t* const from = buffer(given.length);
    int64_t* const into = buffer(got.length);
    for (uint64_t i = 0; i < given.length; ++i)
        from[i] = value(turn, turn->rank, i);
    ucg_coll_args_t args = arguments(turn, from, into);
    args.src_counts = given.counts;
    args.src_displs = given.displs;
    args.dst_counts = got.counts;
    args.dst_displs = got.displs;
    if (turn->coll == UCG_COLL_GATHERV) args.count = given.counts[0];
    if (turn->coll == UCG_COLL_SCATTERV) args.count = got.counts[0];
    if (turn->coll == UCG_COLL_REDUCE_SCATTER) {
        args.dst_counts = given.counts;
        args.dst_displs = NULL;
    }
    require(turn, ucg_collective(turn->group, &args), UCS_OK);

    uint64_t end = 0;
    for (uint32_t block = 0; block < got.blocks; ++block) {
        const uint32_t sender = got.blocks == turn->size && turn->coll != UCG_COLL_SCATTERV &&
                                        turn->coll != UCG_COLL_REDUCE_SCATTER
                                    ? block
                                    : turn->root;
        check_untouched(turn, "between blocks", into, end, got.displs[block]);
        for (uint64_t i = 0; i < got.counts[block]; ++i)
            compare(turn, "result", got.displs[block] + i, into[got.displs[block] + i],
                    expected_of(turn, sender, i));
        end = got.displs[block] + got.counts[block];
    }
    check_untouched(turn, "behind the result", into, end, got.length + GUARD);
    for (uint64_t i = 0; i < given.length; ++i)
        compare(turn, "input", i, from[i], value(turn, turn->rank, i));
    check_untouched(turn, "behind the input", from, given.length, given.length + GUARD);
    free(from);
    free(into);
}

/* ------------------------------------------------------------ programs of the ranks */

/* After a barrier all ranks have counted, and no rank is ahead by more than one. */
static void do_barriers(struct turn* turn) {
    turn->coll = UCG_COLL_BARRIER;
    turn->in_place = 0;
    turn->count = 0;
    for (turn->round = 0; turn->round < 60; ++turn->round) {
        turn->general = turn->round % 3 == 2;
        /* One rank is late, so that a rank that does not wait for it is detected. */
        if (turn->round % turn->size == turn->rank) usleep(1000);
        atomic_fetch_add(&shared->arrived, 1);
        require(turn, call(turn, NULL, NULL), UCS_OK);
        const uint64_t arrived = atomic_load(&shared->arrived);
        const uint64_t least = (turn->round + 1) * turn->size;
        if (arrived < least || arrived >= least + turn->size)
            fail(turn, "ranks that arrived", 0, (int64_t)arrived, (int64_t)least);
    }
}

static void do_without_group(struct turn turn) {
    int64_t some[2] = {0, 0};
    turn.group = NULL;
    turn.count = 1;
    for (turn.general = 0; turn.general < 2; ++turn.general) {
        turn.coll = UCG_COLL_BARRIER;
        require(&turn, call(&turn, NULL, NULL), UCS_ERR_INVALID_PARAM);
        for (size_t kind = 0; kind < sizeof equal_blocks / sizeof *equal_blocks; ++kind) {
            turn.coll = equal_blocks[kind];
            require(&turn, call(&turn, &some[0], &some[1]), UCS_ERR_INVALID_PARAM);
        }
    }
}

static void do_all(struct turn* turn, uint64_t count, uint64_t rounds) {
    static const ucg_op_t ops[] = {UCG_OP_SUM, UCG_OP_MAX, UCG_OP_MIN};
    turn->count = count;
    for (turn->round = 0; turn->round < rounds; ++turn->round) {
        turn->op = ops[turn->round % (sizeof ops / sizeof *ops)];
        turn->root = (uint32_t)((turn->round + turn->round / 2) % turn->size);
        for (size_t kind = 0; kind < sizeof equal_blocks / sizeof *equal_blocks; ++kind) {
            turn->coll = equal_blocks[kind];
            for (int variant = 0; variant < 4; ++variant) {
                turn->general = variant % 2;
                turn->in_place = variant / 2 && may_be_in_place(turn);
                do_equal_blocks(turn);
            }
        }
        turn->general = 1;
        turn->in_place = 0;
        for (size_t kind = 0; kind < sizeof any_blocks / sizeof *any_blocks; ++kind) {
            turn->coll = any_blocks[kind];
            do_any_blocks(turn);
        }
    }
}

/* The last rank does not enter, but lives until the others have reported the timeout. A rank
 * that has left would be another error. */
static void do_alone(struct turn* turn) {
    turn->coll = UCG_COLL_BARRIER;
    if (turn->rank != turn->size - 1) require(turn, ucg_barrier(turn->group), UCS_ERR_TIMED_OUT);
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
        /* Operations prepared for one length run again between calls with other lengths. */
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
    /* Each rank ends its own group. Copies of the other ranks' memory stay reachable, which is
     * not a leak. */
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
