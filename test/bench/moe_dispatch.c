/*
 * Measures one rank's part in MoE dispatch and combine, and in an alltoallv with a copy for each
 * chosen expert. The program is one rank of a job that the environment describes (UCG_OOB, ...).
 * The options are those of moe_bench.h; mpi_moe_dispatch.c is the MPI counterpart.
 *
 * Rows of the output:
 *   dispatch            with the handle of an earlier notify
 *   notify and dispatch both, as one operation that is prepared for each call
 *   combine             of the rows as they arrived
 *   copies              alltoallv; the time includes packing the rows
 *   copies in place     alltoallv of rows that are packed already
 */

#include "test/bench/moe_bench.h"
#include "test/support/moe_tensor.h"

static ucg_group_h group;
static ucg_moe_team_h team;
static ucg_moe_handle_h handle;
static ucg_moe_handle_attr_t came = UCG_MOE_HANDLE_ATTR_INIT;
static ucg_moe_notify_args_t routing = UCG_MOE_NOTIFY_ARGS_INIT;
static ucg_moe_dispatch_args_t dispatch_args = UCG_MOE_DISPATCH_ARGS_INIT;
static ucg_moe_combine_args_t back = UCG_MOE_COMBINE_ARGS_INIT;
static ucg_request_h dispatch_request, combine_request, copies_request;
static struct moe_copy* arriving; /* copies that a dispatch brings */

static void must(ucs_status_t status, const char* operation) {
    if (status == UCS_OK) return;
    fprintf(stderr, "rank %u: %s: %s\n", bench.rank, operation, ucs_status_string(status));
    exit(1);
}

static void run(ucg_request_h request, const char* operation) {
    must(ucg_request_start(request), operation);
    must(ucg_request_wait(request), operation);
}

static void barrier(void) {
    must(ucg_barrier(group), "barrier");
}

static void largest(double* values, int count) {
    must(ucg_allreduce(group, UCG_IN_PLACE, values, (uint64_t)count, UCG_TYPE_FP64, UCG_OP_MAX),
         "comparing times");
}

static void dispatch(void) {
    run(dispatch_request, "dispatch");
}

static void notify_and_dispatch(void) {
    ucg_request_h request = NULL;
    must(ucg_moe_notify_dispatch_init(team, &routing, &dispatch_args, 0, &request),
         "notify and dispatch");
    run(request, "notify and dispatch");
    must(ucg_request_free(request), "freeing a request");
}

static void combine(void) {
    run(combine_request, "combine");
}
static void exchange(void) {
    run(copies_request, "alltoallv");
}

/* Writes the rows as a dispatch would deliver them. */
static void write_arrived(void) {
    uint16_t* rows = dispatch_args.out_x.data;
    for (uint64_t i = 0; i < came.rows; ++i)
        moe_write_row(&bench, rows + i * bench.hidden, arriving[i].source, arriving[i].token, 1);
}

static uint64_t bytes_of(const ucg_moe_tensor_t* tensor) {
    return tensor->dims[0] * tensor->dims[1] * sizeof(uint16_t);
}

static void clear_rows(void) {
    memset(dispatch_args.out_x.data, 0xff, bytes_of(&dispatch_args.out_x));
}
static void clear_sums(void) {
    memset(back.out_x.data, 0xff, bytes_of(&back.out_x));
}

static int rows_right(void) {
    return moe_rows_are(&bench, dispatch_args.out_x.data, arriving, came.rows);
}
/* Each rank has returned the row unchanged. */
static int sums_right(void) {
    const uint16_t* sums = back.out_x.data;
    uint16_t* row = moe_memory(bench.hidden * sizeof *row);
    uint32_t t = 0;
    for (; t < bench.tokens; ++t) {
        moe_write_row(&bench, row, bench.rank, t, moe_targets(&bench, bench.rank, t));
        if (memcmp(sums + (uint64_t)t * bench.hidden, row, bench.hidden * sizeof *row) != 0) break;
    }
    free(row);
    if (t == bench.tokens) return 1;
    fprintf(stderr, "rank %u: the sum of token %u is wrong\n", bench.rank, t);
    return 0;
}

/* Computed from the choices, independent of the library. */
static void find_arriving(void) {
    uint64_t count = 0;
    arriving = moe_memory((uint64_t)bench.ranks * bench.tokens * sizeof *arriving);
    for (uint32_t source = 0; source < bench.ranks; ++source) {
        for (uint32_t t = 0; t < bench.tokens; ++t) {
            const int64_t* chosen = moe_chosen(&bench, source, t);
            uint32_t j = 0;
            while (j < bench.k && moe_owner(&bench, chosen[j]) != bench.rank)
                ++j;
            if (j < bench.k) arriving[count++] = (struct moe_copy){source, t};
        }
    }
    if (count == came.rows) return;
    fprintf(stderr, "rank %u: %u rows were announced, and %llu should come\n", bench.rank,
            came.rows, (unsigned long long)count);
    exit(1);
}

static void prepare_moe(void) {
    ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
    ucg_request_h notify = NULL;
    params.experts = bench.experts;
    must(ucg_moe_team_create(group, &params, &team), "making the team");
    routing.topk = tensor_of(bench.choices + (uint64_t)bench.rank * bench.tokens * bench.k,
                             UCG_TYPE_INT64, bench.tokens, bench.k);
    routing.token_bytes = bench.hidden * sizeof(uint16_t);
    must(ucg_moe_notify_init(team, &routing, &notify), "notify");
    run(notify, "notify");
    must(ucg_moe_notify_handle(notify, &handle), "taking the handle");
    must(ucg_request_free(notify), "freeing a request");
    must(ucg_moe_handle_query(handle, &came), "asking the handle");
    find_arriving();
    dispatch_args.x = tensor_of(bench.x, UCG_TYPE_BF16, bench.tokens, bench.hidden);
    dispatch_args.out_x = tensor_of(NULL, UCG_TYPE_BF16, came.rows, bench.hidden);
    dispatch_args.out_x.data = moe_memory(bytes_of(&dispatch_args.out_x));
    must(ucg_moe_dispatch_init(handle, &dispatch_args, &dispatch_request), "dispatch");
    back.x = dispatch_args.out_x;
    back.out_x = tensor_of(NULL, UCG_TYPE_BF16, bench.tokens, bench.hidden);
    back.out_x.data = moe_memory(bytes_of(&back.out_x));
    must(ucg_moe_combine_init(handle, &back, &combine_request), "combine");
}

static void measure_moe(void) {
    const double crossing = moe_crossing(&bench, 0);
    moe_measure(&bench, &(struct moe_case){"dispatch", crossing, write_tokens, dispatch, clear_rows,
                                           rows_right});
    moe_measure(&bench, &(struct moe_case){"notify and dispatch", crossing, write_tokens,
                                           notify_and_dispatch, clear_rows, rows_right});
    moe_measure(&bench, &(struct moe_case){"combine", crossing, write_arrived, combine, clear_sums,
                                           sums_right});
}

static void free_moe(void) {
    must(ucg_request_free(combine_request), "freeing a request");
    must(ucg_request_free(dispatch_request), "freeing a request");
    ucg_moe_handle_release(handle);
    ucg_moe_team_destroy(team);
    free(dispatch_args.out_x.data);
    free(back.out_x.data);
    free(arriving);
}

/* Converts counts of rows into counts of elements. */
static uint64_t* elements(const uint64_t* rows) {
    uint64_t* made = moe_memory(bench.ranks * sizeof *made);
    for (uint32_t i = 0; i < bench.ranks; ++i)
        made[i] = rows[i] * bench.hidden;
    return made;
}

static void measure_copies(void) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    moe_copies_make(&bench, &copies);
    uint64_t* send_counts = elements(copies.send_counts);
    uint64_t* receive_counts = elements(copies.receive_counts);
    args.coll = UCG_COLL_ALLTOALLV;
    args.src = copies.from;
    args.dst = copies.into;
    args.type = UCG_TYPE_BF16;
    args.src_counts = send_counts;
    args.dst_counts = receive_counts;
    must(ucg_request_init(group, &args, &copies_request), "alltoallv");
    moe_measure_copies();
    must(ucg_request_free(copies_request), "freeing a request");
    free(send_counts);
    free(receive_counts);
    moe_copies_free(&copies);
}

int main(int argc, char** argv) {
    ucg_context_h context;
    ucg_oob_t* oob = NULL;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    ucg_group_attr_t about = UCG_GROUP_ATTR_INIT;
    moe_read_options(&bench, argc, argv);
    moe_bind(&bench, getenv("UCG_OOB_RANK"));
    must(ucg_oob_create_env(&oob), "finding the other ranks");
    must(ucg_context_create(NULL, &context), "making a context");
    params.oob = oob;
    must(ucg_group_create(context, &params, &group), "making the group");
    must(ucg_group_wait(group), "making the group");
    must(ucg_group_query(group, &about), "asking the group");
    bench.rank = about.rank;
    bench.ranks = about.size;
    bench.barrier = barrier;
    bench.largest = largest;
    if (about.node != about.rank / bench.per_node) {
        fprintf(stderr, "rank %u is on node %u; -N %u would have it on node %u\n", about.rank,
                about.node, bench.per_node, about.rank / bench.per_node);
        return 2;
    }
    if (bench.k > moe_most_targets && bench.ranks > moe_most_targets) {
        fprintf(stderr, "sums over more than %d ranks would not be exact: -k\n", moe_most_targets);
        return 2;
    }
    moe_begin(&bench);
    moe_print_header(&bench);
    prepare_moe();
    measure_moe();
    free_moe();
    measure_copies();
    barrier();
    moe_end(&bench);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    ucg_oob_destroy(oob);
    return 0;
}
