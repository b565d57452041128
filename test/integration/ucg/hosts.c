/*
 * One rank of a job that the environment describes (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT).
 * All ranks run rounds of hierarchical collectives and of MoE exchanges, check every result, and
 * print the number of each round.
 *
 *   ucg_hosts ROUNDS
 *
 * Exits with 0 after that many rounds, with 2 if a result is wrong, and with 4 if an operation
 * failed, after all operations in flight have ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/moe_tensor.h"

enum { COUNT = 3000, TOKENS = 40, HIDDEN = 96, CHOICES = 3, LOCAL = 2 };

static uint32_t rank, size;
static ucg_group_h group;
static ucg_moe_team_h team;

static void wrong(const char* name, uint64_t where) {
    fprintf(stderr, "rank %u: %s is wrong at %llu\n", rank, name, (unsigned long long)where);
    exit(2);
}

static ucs_status_t run(ucg_request_h request, ucs_status_t status) {
    if (status == UCS_OK) status = ucg_request_start(request);
    if (status == UCS_OK) status = ucg_request_wait(request);
    return status;
}

/* ------------------------------------------------------------------ collectives */

static int64_t value(uint32_t source, uint64_t i, unsigned round) {
    return (int64_t)(source * 1000 + i % 997 + round);
}

static int64_t sum_at(uint64_t i, unsigned round) {
    int64_t sum = 0;
    for (uint32_t each = 0; each < size; ++each)
        sum += value(each, i, round);
    return sum;
}

static int64_t expected(ucg_coll_t coll, uint32_t root, uint64_t i, unsigned round) {
    if (coll == UCG_COLL_BCAST) return value(root, i, round);
    if (coll == UCG_COLL_ALLGATHER) return value((uint32_t)(i / COUNT), i % COUNT, round);
    return sum_at(i, round);
}

/* Selects the hierarchical algorithm. */
static ucs_status_t collective(ucg_coll_t coll, unsigned round) {
    static int64_t from[COUNT], into[64 * COUNT];
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    ucg_request_h request = NULL;
    const uint64_t length = coll == UCG_COLL_BARRIER     ? 0
                            : coll == UCG_COLL_ALLGATHER ? COUNT * (uint64_t)size
                                                         : COUNT;
    args.coll = coll;
    args.src = from;
    args.dst = into;
    args.count = coll == UCG_COLL_BARRIER ? 0 : COUNT;
    args.type = UCG_TYPE_INT64;
    args.root = round % size;
    args.algorithm = "hierarchical";
    memset(into, 0xee, sizeof into);
    for (uint64_t i = 0; i < COUNT; ++i)
        (coll == UCG_COLL_BCAST ? into : from)[i] = value(rank, i, round);
    ucs_status_t status = ucg_request_init(group, &args, &request);
    status = run(request, status);
    ucg_request_free(request);
    const int has_result = coll != UCG_COLL_REDUCE || rank == args.root;
    for (uint64_t i = 0; status == UCS_OK && has_result && i < length; ++i)
        if (into[i] != expected(coll, args.root, i, round)) wrong(ucg_coll_name(coll), i);
    return status;
}

static ucs_status_t collectives(unsigned round) {
    static const ucg_coll_t all[] = {UCG_COLL_ALLREDUCE, UCG_COLL_BCAST, UCG_COLL_REDUCE,
                                     UCG_COLL_ALLGATHER, UCG_COLL_BARRIER};
    ucs_status_t status = UCS_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == UCS_OK; ++i)
        status = collective(all[i], round);
    return status;
}

/* ------------------------------------------------------------------ MoE */

static int64_t choice(uint32_t source, uint32_t token, uint32_t j) {
    const uint32_t dice = source * 7 + token * 3 + j * 5 + token * j;
    return dice % 11 == 0 ? -1 : (int64_t)(dice % (LOCAL * size));
}

/* Small integers: sums are exact. */
static float number(uint32_t source, uint32_t token, uint32_t h, unsigned round) {
    return (float)((source * 5 + token + h + round) % 50);
}

/* The factor that experts apply to a token: expert e multiplies it by e + 1. It
 * covers the experts of one rank, or all. */
static float factor(uint32_t source, uint32_t token, int64_t expert_rank) {
    float sum = 0;
    for (uint32_t j = 0; j < CHOICES; ++j) {
        const int64_t expert = choice(source, token, j);
        if (expert >= 0 && (expert_rank < 0 || expert / LOCAL == expert_rank))
            sum += (float)(expert + 1);
    }
    return sum;
}

static void check_rows_and_work(float* rows, unsigned round) {
    for (uint32_t source = 0; source < size; ++source) {
        for (uint32_t t = 0; t < TOKENS; ++t) {
            const float made = factor(source, t, rank);
            if (made == 0) continue;
            for (uint32_t h = 0; h < HIDDEN; ++h, ++rows) {
                if (*rows != number(source, t, h, round)) wrong("dispatch", source * TOKENS + t);
                *rows *= made;
            }
        }
    }
}

static uint32_t rows_for(uint32_t to) {
    uint32_t count = 0;
    for (uint32_t source = 0; source < size; ++source)
        for (uint32_t t = 0; t < TOKENS; ++t)
            count += factor(source, t, to) != 0;
    return count;
}

static ucs_status_t there_and_back(ucg_moe_handle_h handle, float* rows, uint32_t count,
                                   unsigned round) {
    static float x[TOKENS * HIDDEN], sums[TOKENS * HIDDEN];
    ucg_moe_dispatch_args_t dispatch_args = UCG_MOE_DISPATCH_ARGS_INIT;
    ucg_moe_combine_args_t back = UCG_MOE_COMBINE_ARGS_INIT;
    ucg_request_h request = NULL;
    for (uint32_t t = 0; t < TOKENS; ++t)
        for (uint32_t h = 0; h < HIDDEN; ++h)
            x[t * HIDDEN + h] = number(rank, t, h, round);
    dispatch_args.x = tensor_of(x, UCG_TYPE_FP32, TOKENS, HIDDEN);
    dispatch_args.out_x = tensor_of(rows, UCG_TYPE_FP32, count, HIDDEN);
    ucs_status_t status = ucg_moe_dispatch_init(handle, &dispatch_args, &request);
    status = run(request, status);
    ucg_request_free(request);
    if (status != UCS_OK) return status;
    check_rows_and_work(rows, round);
    back.x = dispatch_args.out_x;
    back.out_x = tensor_of(sums, UCG_TYPE_FP32, TOKENS, HIDDEN);
    status = ucg_moe_combine_init(handle, &back, &request);
    status = run(request, status);
    ucg_request_free(request);
    for (uint32_t t = 0; status == UCS_OK && t < TOKENS; ++t)
        for (uint32_t h = 0; h < HIDDEN; ++h)
            if (sums[t * HIDDEN + h] != factor(rank, t, -1) * x[t * HIDDEN + h])
                wrong("combine", t);
    return status;
}

static ucs_status_t exchange(ucg_moe_route_t route, unsigned round) {
    static int64_t topk[TOKENS * CHOICES];
    ucg_moe_notify_args_t routing = UCG_MOE_NOTIFY_ARGS_INIT;
    ucg_moe_handle_attr_t came = UCG_MOE_HANDLE_ATTR_INIT;
    ucg_moe_handle_h handle = NULL;
    ucg_request_h request = NULL;
    for (uint32_t t = 0; t < TOKENS; ++t)
        for (uint32_t j = 0; j < CHOICES; ++j)
            topk[t * CHOICES + j] = choice(rank, t, j);
    routing.topk = tensor_of(topk, UCG_TYPE_INT64, TOKENS, CHOICES);
    routing.route = route;
    routing.channel_tokens = 8;
    ucs_status_t status = ucg_moe_notify_init(team, &routing, &request);
    status = run(request, status);
    if (status == UCS_OK) status = ucg_moe_notify_handle(request, &handle);
    ucg_request_free(request);
    if (status != UCS_OK) return status;
    ucg_moe_handle_query(handle, &came);
    if (came.rows != rows_for(rank)) wrong("notify", came.rows);
    float* const rows = malloc((came.rows + 1) * HIDDEN * sizeof *rows);
    status = there_and_back(handle, rows, came.rows, round);
    free(rows);
    ucg_moe_handle_release(handle);
    return status;
}

/* ------------------------------------------------------------------ */

static ucs_status_t one_round(unsigned round) {
    ucs_status_t status = collectives(round);
    if (status == UCS_OK) status = exchange(UCG_MOE_ROUTE_DIRECT, round);
    if (status == UCS_OK) status = exchange(UCG_MOE_ROUTE_RELAYED, round);
    return status;
}

int main(int argc, char** argv) {
    ucg_context_h context = NULL;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    ucg_moe_team_params_t dealt = UCG_MOE_TEAM_PARAMS_INIT;
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    ucg_oob_t* oob = NULL;
    if (argc != 2 || ucg_oob_create_env(&oob) != UCS_OK) return 1;
    rank = oob->rank;
    size = oob->size;
    params.oob = oob;
    params.timeout = 60;
    if (size > 64 || ucg_context_create(NULL, &context) != UCS_OK) return 1;
    if (ucg_group_create(context, &params, &group) != UCS_OK) return 1;
    if (ucg_group_wait(group) != UCS_OK || ucg_group_query(group, &attr) != UCS_OK) return 1;
    dealt.experts = LOCAL * size;
    if (ucg_moe_team_create(group, &dealt, &team) != UCS_OK) return 1;
    printf("%u ranks on %u nodes\n", size, attr.nodes);
    fflush(stdout);
    ucs_status_t status = UCS_OK;
    for (unsigned round = 0; status == UCS_OK && round < (unsigned)atoi(argv[1]); ++round) {
        status = one_round(round);
        printf("round %u: %s\n", round, ucs_status_string(status));
        fflush(stdout);
    }
    ucg_moe_team_destroy(team);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    ucg_oob_destroy(oob);
    return status == UCS_OK ? 0 : 4;
}
