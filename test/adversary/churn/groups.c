/* Makes groups, uses each once and destroys it, on two ranks. Each rank must hold the same
 * resources after many groups as after a few.
 *
 *   churn_groups [--warm N] [--groups N]
 */
#include <errno.h>
#include <sys/wait.h>
#include <ucg/api/ucg.h>
#include <unistd.h>

#include "churn.h"

enum { rank_count = 2, limit = 300 };

static void use_one(ucg_group_h parent, unsigned round) {
    double sum = 1;
    ucg_group_h made;
    OK(ucg_group_split(parent, 0, round % 2, &made));
    OK(ucg_group_wait(made));
    OK(ucg_barrier(made));
    OK(ucg_allreduce(made, UCG_IN_PLACE, &sum, 1, UCG_TYPE_FP64, UCG_OP_SUM));
    if (sum != rank_count) FAIL("a sum of %g", sum);
    ucg_group_destroy(made);
}

static int be_rank(unsigned rank, ucg_oob_t* exchange, const struct options* options) {
    ucg_context_h context;
    ucg_group_h world;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    char side[16];
    params.oob = exchange;
    OK(ucg_context_create(NULL, &context));
    OK(ucg_group_create(context, &params, &world));
    OK(ucg_group_wait(world));
    for (unsigned i = 0; i < options->warm; ++i)
        use_one(world, i);
    const struct holdings before = measure();
    for (unsigned i = 0; i < options->clients; ++i)
        use_one(world, i);
    const struct holdings after = measure();
    OK(ucg_barrier(world));
    ucg_group_destroy(world);
    ucg_context_destroy(context);
    ucg_oob_destroy(exchange);
    snprintf(side, sizeof(side), "rank %u", rank);
    const bool good = compare(options, side, before, after);
    return fflush(stdout) == 0 && good ? 0 : 1;
}

int main(int count, char** words) {
    struct options options = {.unit = "groups", .warm = 50, .clients = 200, .bytes_per_client = 16};
    for (int i = 1; i + 1 < count; i += 2) {
        const unsigned value = (unsigned)strtoul(words[i + 1], NULL, 10);
        if (strcmp(words[i], "--warm") == 0) {
            options.warm = value;
        } else if (strcmp(words[i], "--groups") == 0) {
            options.clients = value;
        } else {
            FAIL("unknown option %s", words[i]);
        }
    }
    ucg_oob_t* exchanges[rank_count];
    OK(ucg_oob_create_local(rank_count, exchanges));
    for (unsigned rank = 0; rank < rank_count; ++rank) {
        const pid_t child = fork();
        if (child < 0) FAIL("fork: %s", strerror(errno));
        if (child != 0) continue;
        alarm(limit);
        _exit(be_rank(rank, exchanges[rank], &options));
    }
    int failed = 0;
    for (unsigned rank = 0; rank < rank_count; ++rank) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) failed = 1;
    }
    puts(failed == 0 ? "PASS" : "FAIL");
    return failed;
}
