/*
 * Mixture of experts (MoE): dispatch sends tokens to the ranks of their chosen experts, and combine
 * sends the experts' results back and adds them up.
 *
 * Shape of a program:
 *
 *     ucg_moe_team_create()                       once, or when ranks die: assigns experts to ranks
 *     ucg_moe_notify_init(), start, wait          for each new choice of experts
 *     ucg_moe_notify_handle()                     the number of rows that will arrive, and their
 * order ucg_moe_dispatch_init(), start, wait        tokens go
 *     ...                                         the experts work
 *     ucg_moe_combine_init(), start, wait         returns results
 *     ucg_moe_handle_release()
 *
 * or, for few tokens, without a preceding exchange:
 *
 *     ucg_moe_low_latency_dispatch_init(), start, wait, ucg_moe_low_latency_handle()
 *     ucg_moe_low_latency_combine_init(), start, wait, ucg_moe_slots_release()
 *
 * The rules of ucg.h hold, and these:
 *
 *  - Requests are those of ucg.h: ucg_request_start() and so on, but not ucg_request_set_buffers().
 * All ranks of a team start the same ones in the same order, also among the collectives of its
 * group.
 *  - Expert e of E is on rank e / (E / ranks); E is a multiple of the number of ranks. Experts are
 *    numbered over all ranks in choices, and from 0 on this rank in received data.
 *  - An init that refuses its arguments returns an error and still makes a request. Start that
 *    request, so that the other ranks do not wait: the operation ends with this rank's error on
 *    every rank where it has not ended yet. If a handle or the arguments are NULL, or without
 *    memory, there is no request and *request_p is NULL.
 *  - After a failure the statuses of ranks may differ: the operation has succeeded on a rank that
 *    needed nothing more from the others. The ranks should agree before the next exchange, for
 *    example by ucg_allreduce() of the status with UCG_OP_MIN: UCS_OK is 0 and errors are negative.
 *    That needs all ranks of the group; ucg_moe_team_params_t describes how to continue after ranks
 *    died.
 *  - Every struct of arguments has a timeout and a callback, as ucg_coll_args_t: the timeout is in
 *    seconds from each start, 0: the value of UCG_TIMEOUT; the callback may be NULL.
 *  - Limits: 1024 choices of a token, 2^30 tokens of a rank, 1 GiB of a row, 1024 channels, and
 *    INT32_MAX rows received by a rank.
 *  - Outputs must not overlap each other or inputs, except inputs that are copied: an init refuses
 *    them with UCS_ERR_INVALID_PARAM. Rows may lie in the gaps between the rows of another tensor
 *    if both have the same stride. The rows of an output must not overlap.
 *  - Strides are multiples of the element's size.
 *  - Rows are always in the order of (source rank, token of the source): no result depends on the
 *    arrival order of messages.
 */
#ifndef UCG_MOE_H_
#define UCG_MOE_H_

#include <ucg/api/ucg.h>

BEGIN_C_DECLS

/* ------------------------------------------------------------------ tensors */

#define UCG_MOE_MAX_DIMS 3

/*
 * Memory of the caller with a shape. An absent tensor has type UCG_TYPE_LAST, which
 * UCG_MOE_TENSOR_INIT sets. A tensor without rows still has its type and dimensions, and may have
 * no data.
 */
typedef struct ucg_moe_tensor {
    size_t struct_size; /* always this one: other structs contain it */
    void* data;         /* aligned for the type; only read if the tensor is an input */
    ucg_type_t type;
    ucs_memory_type_t memory; /* this library supports UCS_MEMORY_TYPE_HOST */
    uint32_t ndims;
    uint64_t dims[UCG_MOE_MAX_DIMS];
    /* Bytes from an element to the next one in each dimension; all 0: dense, the last dimension
     * fastest. */
    int64_t strides[UCG_MOE_MAX_DIMS];
} ucg_moe_tensor_t;
#define UCG_MOE_TENSOR_INIT                                                                  \
    {                                                                                        \
        sizeof(ucg_moe_tensor_t), NULL, UCG_TYPE_LAST, UCS_MEMORY_TYPE_HOST, 0, {0, 0, 0}, { \
            0, 0, 0                                                                          \
        }                                                                                    \
    }

/* ------------------------------------------------------------------ teams */

typedef struct ucg_moe_team* ucg_moe_team_h;

typedef struct ucg_moe_team_params {
    size_t struct_size;
    uint32_t experts; /* of all ranks together */
    /* An entry for each rank; not 0: the rank is dead or masked. Nothing is sent to a masked rank
     * or awaited from it, and choices of its experts are ignored. NULL: no rank is masked. Must be
     * the same on every remaining rank; is copied.
     *
     * To continue without ranks that died:
     *  1. Every living rank ends its operations of the group: by their timeouts, by the errors that
     *     the death causes, or by ucg_request_cancel().
     *  2. The ranks determine the living ranks and the failed operations by other means than the
     *     group, because its collectives need all ranks.
     *  3. Every living rank starts equally many operations of the group. A rank that has not
     *     started a failed operation starts it now; it ends with the same error. If the number is
     *     unknown, make a new group of the living ranks instead.
     *  4. The ranks make teams with this mask. The group then supports these teams only, and can be
     *     destroyed.
     *
     * A masked rank that lives does not take part in the operations of the others, so it does not
     * know their number, and can start nothing in this group any more: neither a collective nor an
     * exchange of a later team that contains it. To exclude living ranks, or for a while, use
     * ucg_group_split() and a team of the part. */
    const uint8_t* masked;
} ucg_moe_team_params_t;
#define UCG_MOE_TEAM_PARAMS_INIT \
    { sizeof(ucg_moe_team_params_t), 0, NULL }

/**
 * Assigns experts to the ranks of a group. Local. The group must outlive the team and everything
 * made from it.
 *
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: experts are no multiple of the ranks, or this rank is
 * masked. UCS_ERR_EXCEEDS_LIMIT: a rank of this node would be the relay of more than 4096 ranks.
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_team_create(ucg_group_h group, const ucg_moe_team_params_t* params,
                                 ucg_moe_team_h* team_p);

/** Releases a team. Requests and handles made from it keep what they need. */
void ucg_moe_team_destroy(ucg_moe_team_h team);

/**
 * The maximum number of rows that a dispatch can deliver if no rank has more than max_tokens: the
 * size of outputs that are allocated before the counts are known.
 *
 * @param k          Choices of each token.
 * @param alignment  0: a row for each token; otherwise the expanded layout with this alignment.
 * @return UINT64_MAX: the team is NULL, k is above 1024 or max_tokens above 2^30.
 */
uint64_t ucg_moe_max_rows(ucg_moe_team_h team, uint32_t k, uint64_t max_tokens, uint32_t alignment);

/* ------------------------------------------------------------------ layout */

/* Arrays of the caller; NULL: not requested. */
typedef struct ucg_moe_layout {
    size_t struct_size;
    int32_t* per_rank;   /* [ranks] tokens that go to the rank, each counted once */
    int32_t* per_node;   /* [nodes] to the node, each counted once */
    int32_t* per_expert; /* [experts] every choice */
    uint8_t* in_rank;    /* [tokens, ranks] 1: the token goes to the rank */
} ucg_moe_layout_t;
#define UCG_MOE_LAYOUT_INIT \
    { sizeof(ucg_moe_layout_t), NULL, NULL, NULL, NULL }

/**
 * Counts the destinations of this rank's tokens. Local.
 *
 * @param topk  [tokens, k] int32 or int64: experts, or -1 for none; k is 1 to 1024.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM, also for an expert that does not exist;
 *         UCS_ERR_UNSUPPORTED: a memory type; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_get_layout(ucg_moe_team_h team, const ucg_moe_tensor_t* topk,
                                ucg_moe_layout_t* layout);

/* ------------------------------------------------------------------ notify */

typedef enum ucg_moe_route {
    UCG_MOE_ROUTE_CHOOSE,  /* for each node by predicted cost */
    UCG_MOE_ROUTE_DIRECT,  /* one copy over the network for each rank that gets the token */
    UCG_MOE_ROUTE_RELAYED, /* one for each node: a rank there relays it, and adds up the results */
    UCG_MOE_ROUTE_ANY_INT = -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_moe_route_t;

enum ucg_moe_notify_flags {
    /* Every rank receives the token counts between all ranks, for
     * ucg_moe_matrices_t::received_by_all: each message to a node grows by 4 bytes for each rank,
     * and each rank receives 4 bytes for each pair of ranks. Must be the same on every rank. */
    UCG_MOE_NOTIFY_ALL_COUNTS = 1u << 0,
    /* The handle stores which ranks of the node receive a row's token, for
     * ucg_moe_matrices_t::holders: a byte for each row and rank of the node. Ranks may differ. */
    UCG_MOE_NOTIFY_HOLDERS = 1u << 1
};

typedef struct ucg_moe_notify_args {
    size_t struct_size;
    ucg_moe_tensor_t topk; /* [tokens, k] int32 or int64; k is 1 to 1024; is copied */
    /* Number of pieces of each rank's tokens, which are pipelined; 0: 8; at most 1024. Must be the
     * same on every rank. */
    uint32_t channels;
    uint32_t channel_tokens; /* minimum tokens of a piece that is not the last; 0: 32 */
    /* UCG_MOE_ROUTE_CHOOSE predicts with UCG_LATENCY, UCG_BANDWIDTH and UCG_RAILS, or with fixed
     * defaults, and not with measurements of the group. So equal choices take equal routes in every
     * run, and the results of ucg_moe_combine_init(), whose rounding depends on routes, have the
     * same bits. */
    ucg_moe_route_t route;
    uint64_t token_bytes; /* of a dispatched token, for the choice of routes; 0: 8192 */
    double timeout;       /* these three as in ucg_coll_args_t */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
    uint32_t flags; /* of ucg_moe_notify_flags */
} ucg_moe_notify_args_t;
#define UCG_MOE_NOTIFY_ARGS_INIT                                                              \
    {                                                                                         \
        sizeof(ucg_moe_notify_args_t), UCG_MOE_TENSOR_INIT, 0, 0, UCG_MOE_ROUTE_CHOOSE, 0, 0, \
            NULL, NULL, 0                                                                     \
    }

/**
 * Prepares the exchange that notifies every rank of the tokens that it will receive. The request
 * can be started once: a second start returns UCS_ERR_INVALID_PARAM without effect.
 *
 * @param request_p  Gets the request, also with an error of the tensor or the numbers: start it.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: also an expert that does not exist, which the log names.
 * UCS_ERR_UNSUPPORTED: a memory type, an unknown flag. UCS_ERR_NO_MEMORY. The request ends with
 * UCS_ERR_INVALID_PARAM or UCS_ERR_MESSAGE_TRUNCATED if ranks disagree about experts, k, channels
 * or UCG_MOE_NOTIFY_ALL_COUNTS; with UCS_ERR_EXCEEDS_LIMIT if a rank would receive more than 2^31 -
 * 1 rows. Ranks that disagree about masks may wait for each other until the timeout.
 */
ucs_status_t ucg_moe_notify_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* args,
                                 ucg_request_h* request_p);

typedef struct ucg_moe_handle* ucg_moe_handle_h;

/**
 * Takes the handle from a successful notify; once. The handle supports any number of dispatches and
 * combines, so a dispatch can be repeated without another notify.
 *
 * @return UCS_OK; UCS_ERR_NO_ELEM: the handle was taken, or there is none.
 */
ucs_status_t ucg_moe_notify_handle(ucg_request_h request, ucg_moe_handle_h* handle_p);

/** Releases a handle; requests made with it keep what they need. */
void ucg_moe_handle_release(ucg_moe_handle_h handle);

typedef struct ucg_moe_handle_attr {
    size_t struct_size;
    uint32_t tokens, k;    /* of this rank's choices */
    uint32_t rows;         /* that it receives */
    uint32_t relayed_rows; /* tokens for this node that this rank relays */
    uint32_t channels;
    uint32_t local_experts;
    /* As long as the handle lives: */
    const uint32_t* per_expert; /* [local_experts] choices that this rank receives */
    const int32_t* chosen;      /* [rows, k] experts of this rank, or -1 */
    const uint32_t* origins;    /* [rows, 2] source rank, and which of its tokens */
} ucg_moe_handle_attr_t;
#define UCG_MOE_HANDLE_ATTR_INIT \
    { sizeof(ucg_moe_handle_attr_t), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/** Fills what fits into attr->struct_size bytes. */
ucs_status_t ucg_moe_handle_query(ucg_moe_handle_h handle, ucg_moe_handle_attr_t* attr);

/* Arrays of the caller; NULL: not requested. Sums include their own channel, node or rank.
 * docs/moe.md has an example of each. */
typedef struct ucg_moe_matrices {
    size_t struct_size;
    uint32_t alignment;    /* in: per_expert is rounded up to a multiple of this; 0: 1 */
    int32_t* sent_to_node; /* [nodes, channels] tokens to the node, each once, up to this channel */
    int32_t* sent_to_rank; /* [ranks, channels] tokens to the rank up to this channel */
    int32_t*
        relayed; /* [nodes] tokens for this node that this rank relays, from nodes up to this one */
    int32_t* relayed_by_channel; /* [nodes, channels] the same for one node, up to this channel */
    int32_t* received;           /* [ranks] rows from ranks up to this one */
    int32_t* received_begin;     /* [ranks, channels] first row of the rank's channel */
    int32_t* send_place;  /* [tokens, nodes] place of a token in its channel to the node, or -1 */
    int32_t* relay_place; /* [relayed_rows, ranks of the node] place of a token in the relayed rows,
                             or -1 */
    int32_t* per_expert;  /* [local_experts] rows, rounded up */
    int32_t* rank_place;  /* [tokens, ranks] place of a token in its channel to the rank, or -1 */
    int32_t* received_before; /* [ranks, channels] rows of the rank's channels before this one */
    /* [ranks, ranks]: entry (i, j) is entry i of `received` on rank j. Needs a notify with
     * UCG_MOE_NOTIFY_ALL_COUNTS. */
    int32_t* received_by_all;
    int32_t* source_token; /* [rows] the token of a row, as numbered at its source */
    int32_t* source_node;  /* [rows] the node of its source */
    /* [rows, ranks of the node]: 1: this rank receives the row's token as well. Needs a notify with
     * UCG_MOE_NOTIFY_HOLDERS. */
    int32_t* holders;
} ucg_moe_matrices_t;
#define UCG_MOE_MATRICES_INIT                                                                      \
    {                                                                                              \
        sizeof(ucg_moe_matrices_t), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, NULL, NULL, NULL, NULL                                                           \
    }

/**
 * Fills the requested arrays. Local. Ranks of the node are those that are not masked.
 *
 * @return UCS_OK. With nothing filled: UCS_ERR_EXCEEDS_LIMIT: per_expert, rounded up, is above 2^31
 * - 1; UCS_ERR_NO_ELEM: the notify had no flag for received_by_all or holders. UCS_ERR_NO_MEMORY:
 * some may be filled.
 */
ucs_status_t ucg_moe_handle_matrices(ucg_moe_handle_h handle, ucg_moe_matrices_t* matrices);

/* ------------------------------------------------------------------ the expanded layout */

/* The expanded layout has a row for each choice, expert by expert. An expert's rows begin at a
 * multiple of the alignment, are in the order of (source rank, token, place among the choices), and
 * are followed by padding.
 */
typedef struct ucg_moe_expansion* ucg_moe_expansion_h;

/**
 * Numbers the rows of the expanded layout. Local.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: alignment 0; UCS_ERR_EXCEEDS_LIMIT: more than 2^31 - 1
 * rows; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_expand(ucg_moe_handle_h handle, uint32_t alignment,
                            ucg_moe_expansion_h* expansion_p);

/** Releases the object; requests made with it keep what they need. */
void ucg_moe_expansion_release(ucg_moe_expansion_h expansion);

typedef struct ucg_moe_expansion_attr {
    size_t struct_size;
    uint32_t rows; /* all, with padding */
    /* As long as the expansion lives: */
    const uint32_t* begins; /* [local experts + 1] */
    const uint32_t* counts; /* [local experts] without padding */
    const uint32_t* row_of; /* [received rows, k] row of each choice; UINT32_MAX: the expert is on
                               another rank */
} ucg_moe_expansion_attr_t;
#define UCG_MOE_EXPANSION_ATTR_INIT \
    { sizeof(ucg_moe_expansion_attr_t), 0, NULL, NULL, NULL }

/** Fills what fits into attr->struct_size bytes. */
ucs_status_t ucg_moe_expansion_query(ucg_moe_expansion_h expansion, ucg_moe_expansion_attr_t* attr);

/* ------------------------------------------------------------------ dispatch and combine */

enum ucg_moe_dispatch_flags {
    /* For the expanded layout: sets rows of padding to 0. */
    UCG_MOE_DISPATCH_ZERO_PADDING = 1u << 0
};

/*
 * All ranks must pass the same optional tensors, with the same types and last dimensions; UCG_CHECK
 * compares them. Outputs may have more rows than arrive.
 */
typedef struct ucg_moe_dispatch_args {
    size_t struct_size;
    uint32_t flags;          /* of ucg_moe_dispatch_flags */
    ucg_moe_tensor_t x;      /* [tokens, hidden] bf16, fp16, fp32 or fp8_e4m3 */
    ucg_moe_tensor_t scales; /* optional, of fp8: [tokens, any] fp32, int32 or uint8; any strides */
    ucg_moe_tensor_t weights;      /* optional: [tokens, k] fp32 */
    ucg_moe_expansion_h expansion; /* NULL: a row for each token; otherwise for each choice */
    ucg_moe_tensor_t out_x;        /* [rows, hidden] */
    ucg_moe_tensor_t out_scales;   /* as scales */
    ucg_moe_tensor_t
        out_weights; /* as weights: [rows, k], 0 for experts of others; expanded: [rows, 1] */
    /* Optional, not expanded: [rows, k] int32 or int64: experts of this rank, or -1; -1 in rows
     * behind the last. */
    ucg_moe_tensor_t out_topk;
    double timeout; /* these three as in ucg_coll_args_t */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
} ucg_moe_dispatch_args_t;
#define UCG_MOE_DISPATCH_ARGS_INIT                                                    \
    {                                                                                 \
        sizeof(ucg_moe_dispatch_args_t), 0, UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, \
            UCG_MOE_TENSOR_INIT, NULL, UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT,      \
            UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, 0, NULL, NULL                   \
    }

/**
 * Prepares a dispatch, which can be started any number of times. Each start uses the memory of the
 * tensors.
 *
 * @param request_p  Gets the request, also with an error: start it where the other ranks start
 *                   theirs.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: also for an expansion of another handle;
 *         UCS_ERR_BUFFER_TOO_SMALL: an output has too few rows; UCS_ERR_UNSUPPORTED: a memory type,
 *         an unknown flag; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_dispatch_init(ucg_moe_handle_h handle, const ucg_moe_dispatch_args_t* args,
                                   ucg_request_h* request_p);

/**
 * Prepares notify and dispatch as one operation, so that no rank waits for counts in between. The
 * request can be started once; then ucg_moe_notify_handle() returns the handle.
 *
 * @param choices    As of ucg_moe_notify_init(); timeout and callback are ignored.
 * @param args       As of ucg_moe_dispatch_init(), without an expansion; timeout and callback are
 *                   those of the operation. Outputs need ucg_moe_max_rows() rows, or as many as are
 *                   known to be enough.
 * @param alignment  0: a row for each token; otherwise the expanded layout, which ucg_moe_expand()
 *                   with the handle and this alignment describes afterwards.
 * @param request_p  Gets the request, also with an error: start it where the other ranks start
 *                   theirs.
 * @return as ucg_moe_notify_init() and ucg_moe_dispatch_init(): all errors that this rank detects
 * alone, including UCS_ERR_BUFFER_TOO_SMALL if inputs have fewer rows than tokens. The request may
 * end as that of ucg_moe_notify_init(), and with UCS_ERR_BUFFER_TOO_SMALL if an output has too few
 * rows for the received data.
 */
ucs_status_t ucg_moe_notify_dispatch_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* choices,
                                          const ucg_moe_dispatch_args_t* args, uint32_t alignment,
                                          ucg_request_h* request_p);

/*
 * Sums are computed in fp32 and rounded to the type of x: by the relay of a node, if there is one,
 * and at the end. Values are added in the order of ranks; the sum of a relay takes the position of
 * the lowest rank of its node. Weights are not applied.
 */
typedef struct ucg_moe_combine_args {
    size_t struct_size;
    /* [rows, hidden] bf16, fp16 or fp32: the result of this rank's experts for each received token;
     * expanded: for each choice, which are then added up first. Rows of all tensors of this struct
     * are dense. */
    ucg_moe_tensor_t x;
    ucg_moe_tensor_t weights;      /* optional: [rows, k] fp32, or expanded [rows, 1] */
    ucg_moe_expansion_h expansion; /* NULL: a row for each token */
    ucg_moe_tensor_t bias[2];      /* optional: [tokens, hidden], added last */
    ucg_moe_tensor_t out_x;        /* [tokens, hidden] */
    ucg_moe_tensor_t out_weights;  /* with weights: [tokens, k] their sums */
    double timeout;                /* these three as in ucg_coll_args_t */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
} ucg_moe_combine_args_t;
#define UCG_MOE_COMBINE_ARGS_INIT                                                                 \
    {                                                                                             \
        sizeof(ucg_moe_combine_args_t), UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, NULL,           \
            {UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT}, UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, \
            0, NULL, NULL                                                                         \
    }

/** As ucg_moe_dispatch_init(). */
ucs_status_t ucg_moe_combine_init(ucg_moe_handle_h handle, const ucg_moe_combine_args_t* args,
                                  ucg_request_h* request_p);

/* ------------------------------------------------------------------ low latency */

typedef enum ucg_moe_scaling {
    UCG_MOE_SCALING_EXACT, /* fp32: the largest magnitude of 128 elements, at least 1e-4, divided by
                              448 */
    UCG_MOE_SCALING_POWER_OF_TWO, /* fp32: the smallest power of two that is not below that */
    UCG_MOE_SCALING_EXPONENT,     /* uint8: the exponent of this power, biased by 127 */
    UCG_MOE_SCALING_ANY_INT =
        -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_moe_scaling_t;

/**
 * Casts rows to fp8_e4m3 with a scale for each 128 elements. Local. Infinities and NaN do not
 * affect the scale: infinities become the largest number of their sign, and NaN stays NaN.
 *
 * @param x       [rows, hidden] bf16, fp16 or fp32, of dense rows; hidden is a multiple of 128.
 * @param out     [rows, hidden] fp8_e4m3.
 * @param scales  [rows, hidden / 128] fp32 or uint8, as the scaling says.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_BUFFER_TOO_SMALL: an output has fewer rows than x;
 *         UCS_ERR_UNSUPPORTED: a memory type.
 */
ucs_status_t ucg_moe_cast_fp8(const ucg_moe_tensor_t* x, ucg_moe_scaling_t scaling,
                              ucg_moe_tensor_t* out, ucg_moe_tensor_t* scales);

/* max_tokens, cast, scaling, and type and last dimension of x must be the same on every rank. The
 * experts of a token must differ: duplicates are refused. */
typedef struct ucg_moe_low_latency_args {
    size_t struct_size;
    uint32_t max_tokens; /* maximum tokens of a rank; this rank may have fewer. At least 1;
                            max_tokens * ranks is at most 2^31 - 1 */
    int cast;            /* not 0: x is cast to fp8_e4m3 before it is sent */
    ucg_moe_scaling_t scaling;
    ucg_moe_tensor_t topk; /* [tokens, k] int32 or int64; is copied */
    /* [tokens, hidden] bf16, fp16 or fp32; with cast: of dense rows, a multiple of 128. */
    ucg_moe_tensor_t x;
    ucg_moe_tensor_t out_x; /* [local experts, max_tokens * ranks, hidden] */
    ucg_moe_tensor_t
        out_scales; /* with cast: [local experts, max_tokens * ranks, hidden / 128]; any strides */
    ucg_moe_tensor_t out_tokens; /* optional: [local experts, max_tokens * ranks] int32 or int64:
                                    the row's token at its source */
    double timeout;              /* these three as in ucg_coll_args_t */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
} ucg_moe_low_latency_args_t;
#define UCG_MOE_LOW_LATENCY_ARGS_INIT                                                              \
    {                                                                                              \
        sizeof(ucg_moe_low_latency_args_t), 0, 0, UCG_MOE_SCALING_EXACT, UCG_MOE_TENSOR_INIT,      \
            UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, 0, \
            NULL, NULL                                                                             \
    }

/**
 * Prepares a dispatch of one hop with a row for each choice. Can be started any number of times
 * with the same choices.
 *
 * @param request_p  As of ucg_moe_dispatch_init().
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: also more than max_tokens tokens;
 * or an expert that a token chose twice; UCS_ERR_BUFFER_TOO_SMALL; UCS_ERR_UNSUPPORTED;
 * UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_low_latency_dispatch_init(ucg_moe_team_h team,
                                               const ucg_moe_low_latency_args_t* args,
                                               ucg_request_h* request_p);

typedef struct ucg_moe_slots* ucg_moe_slots_h;

/** Returns the row ranges of the last start after it succeeded. UCS_ERR_NO_ELEM: it did not
 * succeed. */
ucs_status_t ucg_moe_low_latency_handle(ucg_request_h request, ucg_moe_slots_h* slots_p);

/** Releases the object; requests made with it keep what they need. */
void ucg_moe_slots_release(ucg_moe_slots_h slots);

typedef struct ucg_moe_range {
    uint32_t begin, count;
} ucg_moe_range_t;

typedef struct ucg_moe_slots_attr {
    size_t struct_size;
    /* As long as the handle lives: */
    const uint32_t* counts;        /* [local experts] rows; they lie at the front */
    const ucg_moe_range_t* ranges; /* [local experts, ranks] those of each source */
} ucg_moe_slots_attr_t;
#define UCG_MOE_SLOTS_ATTR_INIT \
    { sizeof(ucg_moe_slots_attr_t), NULL, NULL }

/** Fills what fits into attr->struct_size bytes. */
ucs_status_t ucg_moe_slots_query(ucg_moe_slots_h slots, ucg_moe_slots_attr_t* attr);

/* How rows are sent; must be the same on every rank. At most one flag may be set. Without a flag,
 * the rows for a rank are copied into one message unless they are contiguous. Rows of this rank's
 * own experts are added up in place if they are dense and not compressed. */
enum ucg_moe_low_latency_combine_flags {
    /* Rows are compressed to 10 bits a value and 32 for each 128 values: 164 bytes of 256, so
     * hidden / 128 * 164 bytes a row. x is bf16, and hidden a multiple of 128. Rows that stay on
     * this rank are compressed as well, so results do not depend on the ranks and nodes of the
     * experts.
     *
     * For each 128 values a row keeps top, the largest magnitude, and bottom, the smallest one but
     * 0, in bf16, and of each value its sign and a code c from 0 to 511:
     *
     *     step = min(log2(top / bottom), 32) / 510
     *     value = +- top * 2^((c - 511) * step), or 0 where c is 0
     *
     * which is computed in fp32, with the same bits on every machine, and goes into the sum without
     * another rounding. The code is the one whose value is nearest. So a value of at least 2^-32
     * top is off by no more than step * ln 2 / 2 of it: 2.2 % where magnitudes of 128 values reach
     * over 32 powers of two or more, 0.55 % over 8; the largest is exact, and all are where there
     * is but one magnitude. A smaller value than 2^-32 top is off by no more than 2^-33 top.
     * Infinities and NaN arrive as NaN, and do not affect other values. */
    UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10 = 1u << 0,
    /* Rows are sent directly from x without a copy into messages (transports may still copy short
     * ones): a message for each expert with rows for a rank. x must have no gaps between rows.
     * Results have the same bits. Intended for experts that have many or long rows for a rank. */
    UCG_MOE_LOW_LATENCY_COMBINE_ZERO_COPY = 1u << 1
};

/* A token becomes the sum of weight times row over its choices, in their order, in fp32, rounded
 * once. Choices of masked ranks are left out. */
typedef struct ucg_moe_low_latency_combine_args {
    size_t struct_size;
    ucg_moe_tensor_t
        x; /* [local experts, max_tokens * ranks, hidden] bf16, fp16 or fp32: at the same places */
    ucg_moe_tensor_t weights; /* [tokens, k] fp32 */
    ucg_moe_tensor_t out_x;   /* [tokens, hidden], of dense rows */
    double timeout;           /* these three as in ucg_coll_args_t */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
    uint32_t flags; /* of ucg_moe_low_latency_combine_flags */
} ucg_moe_low_latency_combine_args_t;
#define UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT                                                 \
    {                                                                                         \
        sizeof(ucg_moe_low_latency_combine_args_t), UCG_MOE_TENSOR_INIT, UCG_MOE_TENSOR_INIT, \
            UCG_MOE_TENSOR_INIT, 0, NULL, NULL, 0                                             \
    }

/**
 * As ucg_moe_dispatch_init(); also UCS_ERR_INVALID_PARAM for flags that do not fit x or each other,
 * and UCS_ERR_UNSUPPORTED for unknown flags. The request ends with UCS_ERR_MESSAGE_TRUNCATED if the
 * lengths of rows differ between ranks, for example because of flags.
 */
ucs_status_t ucg_moe_low_latency_combine_init(ucg_moe_slots_h slots,
                                              const ucg_moe_low_latency_combine_args_t* args,
                                              ucg_request_h* request_p);

END_C_DECLS

#endif
