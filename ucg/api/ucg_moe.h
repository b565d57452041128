/*
 * Mixture of experts: tokens go to the ranks of the experts that were chosen for them, and what the
 * experts made of them comes back and is added up.
 *
 * Shape of a program:
 *
 *     ucg_moe_team_create()                       once, or when ranks die: who has which experts
 *     ucg_moe_notify_init(), start, wait          for each new choice of experts:
 *     ucg_moe_notify_handle()                     how many rows will come, and where they lie
 *     ucg_moe_dispatch_init(), start, wait        tokens go
 *     ...                                         the experts work
 *     ucg_moe_combine_init(), start, wait         results come back
 *     ucg_moe_handle_release()
 *
 * or, for few tokens, without an exchange beforehand:
 *
 *     ucg_moe_low_latency_dispatch_init(), start, wait, ucg_moe_low_latency_handle()
 *     ucg_moe_low_latency_combine_init(), start, wait, ucg_moe_slots_release()
 *
 * The rules of ucg.h hold, and these:
 *
 *  - Requests are those of ucg.h: ucg_request_start() and so on, but not ucg_request_set_buffers().
 * All ranks of a team start the same ones in the same order, also among the collectives of its
 * group.
 *  - Expert e of E lies on rank e / (E / ranks); E is a multiple of the number of ranks. Numbers of
 * experts are those of all, or, in what is received, from 0 on this rank.
 *  - An init that returns an error because of what its arguments say still gives a request: start
 * it, so that the other ranks, which cannot know, do not wait: the operation ends with this rank's
 * error wherever it has not ended yet. There is none, and *request_p is NULL, where a handle or the
 * arguments are NULL, or without memory.
 *  - So when an operation failed the statuses of ranks may differ: one that needed nothing more of
 * the others has ended well. Agree before the next exchange, for example by ucg_allreduce() of the
 * status with UCG_OP_MIN: UCS_OK is 0 and errors are negative. That needs all ranks of the group;
 * what to do when some died stands with ucg_moe_team_params_t.
 *  - Every struct of arguments has a time limit and a callback, which are those of ucg_coll_args_t:
 * timeout in seconds from each start, 0: as UCG_TIMEOUT says; callback may be NULL.
 *  - Limits: 1024 choices of a token, 2^30 tokens of a rank, 1 GiB of a row, 1024 channels, and
 * INT32_MAX rows that come to a rank.
 *  - Outputs overlap neither each other nor inputs, those that are copied excepted: an init refuses
 * them with UCS_ERR_INVALID_PARAM. Rows may lie in the gaps between the rows of another tensor
 * where both have the same stride. The rows of an output do not overlap.
 *  - Strides are multiples of the element's size.
 *  - Rows are always in the order of (source rank, token of the source): no result depends on when
 * messages come.
 */
#ifndef UCG_MOE_H_
#define UCG_MOE_H_

#include <ucg/api/ucg.h>

BEGIN_C_DECLS

/* ------------------------------------------------------------------ tensors */

#define UCG_MOE_MAX_DIMS 3

/*
 * Memory of the caller's with a form. A tensor that is not there has type UCG_TYPE_LAST, which is
 * what UCG_MOE_TENSOR_INIT gives. One of no rows has its type and dimensions nevertheless, and may
 * have no data.
 */
typedef struct ucg_moe_tensor {
    size_t struct_size; /* always this one: other structs contain it */
    void* data;         /* aligned for the type; is only read where the tensor is an input */
    ucg_type_t type;
    ucs_memory_type_t memory; /* this library serves UCS_MEMORY_TYPE_HOST */
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
    /* An entry for each rank, not 0: it is dead or left out. Nothing is sent to it or awaited from
     * it, and choices of its experts count as none. NULL: nobody. The same on every rank that is
     * left; is copied.
     *
     * Going on without ranks that died:
     *  1. Every living rank lets its operations of the group end: by their time limits, by the
     *     errors that the death leads to, or by ucg_request_cancel().
     *  2. They find out who lives and where operations failed, by other means than the group: its
     *     collectives need all ranks.
     *  3. Every living rank starts equally many operations of the group. One that has not started
     *     an operation that failed starts it now; it ends with the same error. Where that cannot be
     *     said, make a new group of those that live instead.
     *  4. They make teams with this mask. The group serves these teams only, and can be destroyed.
     *
     * A masked rank that lives takes no part in what the others start, so it does not know how many
     * operations there were, and can start nothing in this group any more: neither a collective nor
     * an exchange of a team that has it back. To leave out ranks that live, or for a while, use
     * ucg_group_split() and a team of the part. */
    const uint8_t* masked;
} ucg_moe_team_params_t;
#define UCG_MOE_TEAM_PARAMS_INIT \
    { sizeof(ucg_moe_team_params_t), 0, NULL }

/**
 * Deals experts to the ranks of a group. Local. The group outlives the team and everything made of
 * it.
 *
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: experts are no multiple of the ranks, or this rank is
 * masked. UCS_ERR_EXCEEDS_LIMIT: a rank of this node would be the relay of more than 4096 ranks.
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_team_create(ucg_group_h group, const ucg_moe_team_params_t* params,
                                 ucg_moe_team_h* team_p);

/** Lets a team go. Requests and handles made of it keep what they need. */
void ucg_moe_team_destroy(ucg_moe_team_h team);

/**
 * The most rows that a dispatch can bring, where no rank has more than max_tokens: for outputs that
 * are made before anything is known.
 *
 * @param k          Choices of each token.
 * @param alignment  0: a row for each token; else of the expanded layout with this alignment.
 * @return UINT64_MAX: the team is NULL, k is above 1024 or max_tokens above 2^30.
 */
uint64_t ucg_moe_max_rows(ucg_moe_team_h team, uint32_t k, uint64_t max_tokens, uint32_t alignment);

/* ------------------------------------------------------------------ layout */

/* Arrays of the caller's; those that are NULL are not wanted. */
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
 * Counts where this rank's tokens go. Local.
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
    UCG_MOE_ROUTE_RELAYED, /* one for each node: a rank there passes it on, and adds up what comes
                              back */
    UCG_MOE_ROUTE_ANY_INT = -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_moe_route_t;

enum ucg_moe_notify_flags {
    /* Every rank learns how many tokens go from any rank to any other, for
     * ucg_moe_matrices_t::received_by_all: 4 bytes for each rank are added to what a rank says to
     * each node, and 4 for each pair of ranks come to each rank. The same on every rank. */
    UCG_MOE_NOTIFY_ALL_COUNTS = 1u << 0,
    /* The handle keeps which ranks of the node get a row's token, for ucg_moe_matrices_t::holders:
     * a byte for each row and rank of the node. This rank's own affair. */
    UCG_MOE_NOTIFY_HOLDERS = 1u << 1
};

typedef struct ucg_moe_notify_args {
    size_t struct_size;
    ucg_moe_tensor_t topk; /* [tokens, k] int32 or int64; k is 1 to 1024; is copied */
    /* Pieces that each rank's tokens are cut into, of which one travels while another is worked on;
     * 0: 8; at most 1024. The same on every rank. */
    uint32_t channels;
    uint32_t channel_tokens; /* that a piece has at least, if others follow; 0: 32 */
    /* UCG_MOE_ROUTE_CHOOSE predicts with UCG_LATENCY, UCG_BANDWIDTH and UCG_RAILS, or else with
     * fixed numbers, not with what the group measured: so the same choices take the same routes in
     * every run, and the bits of ucg_moe_combine_init(), which depend on routes, are the same. */
    ucg_moe_route_t route;
    uint64_t token_bytes; /* of what will be dispatched, for the choice of routes; 0: 8192 */
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
 * Prepares the exchange that tells every rank what it will get. The request can be started once: a
 * second start returns UCS_ERR_INVALID_PARAM, and nothing happens.
 *
 * @param request_p  Gets the request, also with an error of the tensor or the numbers: start it.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: also an expert that does not exist, which the log names.
 * UCS_ERR_UNSUPPORTED: a memory type, an unknown flag. UCS_ERR_NO_MEMORY. The request ends with
 * UCS_ERR_INVALID_PARAM or UCS_ERR_MESSAGE_TRUNCATED where ranks disagree about experts, k,
 * channels or UCG_MOE_NOTIFY_ALL_COUNTS; with UCS_ERR_EXCEEDS_LIMIT where more than 2^31 - 1 rows
 * would come to a rank. Ranks that disagree about masks may wait for each other until the
 * operation's time is up.
 */
ucs_status_t ucg_moe_notify_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* args,
                                 ucg_request_h* request_p);

typedef struct ucg_moe_handle* ucg_moe_handle_h;

/**
 * Takes the handle from a notify that ended well; once. It serves any number of dispatches and
 * combines, so that a dispatch can be repeated without another notify.
 *
 * @return UCS_OK; UCS_ERR_NO_ELEM: it was taken, or there is none.
 */
ucs_status_t ucg_moe_notify_handle(ucg_request_h request, ucg_moe_handle_h* handle_p);

/** Lets a handle go; requests made with it keep what they need. */
void ucg_moe_handle_release(ucg_moe_handle_h handle);

typedef struct ucg_moe_handle_attr {
    size_t struct_size;
    uint32_t tokens, k;    /* of this rank's choices */
    uint32_t rows;         /* that it receives */
    uint32_t relayed_rows; /* tokens for this node whose relay it is */
    uint32_t channels;
    uint32_t local_experts;
    /* As long as the handle lives: */
    const uint32_t* per_expert; /* [local_experts] choices that it receives */
    const int32_t* chosen;      /* [rows, k] experts of this rank, or -1 */
    const uint32_t* origins;    /* [rows, 2] source rank, and which of its tokens */
} ucg_moe_handle_attr_t;
#define UCG_MOE_HANDLE_ATTR_INIT \
    { sizeof(ucg_moe_handle_attr_t), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/** Fills what fits into attr->struct_size bytes. */
ucs_status_t ucg_moe_handle_query(ucg_moe_handle_h handle, ucg_moe_handle_attr_t* attr);

/* Arrays of the caller's; those that are NULL are not wanted. Sums include the channel, node or
 * rank that they are of. docs/moe.md has an example of each. */
typedef struct ucg_moe_matrices {
    size_t struct_size;
    uint32_t alignment;    /* in: that per_expert is rounded up to; 0: 1 */
    int32_t* sent_to_node; /* [nodes, channels] tokens to the node, each once, up to this channel */
    int32_t* sent_to_rank; /* [ranks, channels] tokens to the rank up to this channel */
    int32_t* relayed; /* [nodes] tokens for this node, whose relay this rank is, from nodes up to
                         this one */
    int32_t* relayed_by_channel; /* [nodes, channels] the same of one node, up to this channel */
    int32_t* received;           /* [ranks] rows from ranks up to this one */
    int32_t* received_begin;     /* [ranks, channels] first row of the rank's channel */
    int32_t* send_place;  /* [tokens, nodes] place of a token in its channel to the node, or -1 */
    int32_t* relay_place; /* [relayed_rows, ranks of the node] place of a token in what is passed
                             on, or -1 */
    int32_t* per_expert;  /* [local_experts] rows, rounded up */
    int32_t* rank_place;  /* [tokens, ranks] place of a token in its channel to the rank, or -1 */
    int32_t* received_before; /* [ranks, channels] rows of the rank's channels before this one */
    /* [ranks, ranks]: entry (i, j) is what `received` says of i on rank j. Of a notify with
     * UCG_MOE_NOTIFY_ALL_COUNTS. */
    int32_t* received_by_all;
    int32_t* source_token; /* [rows] which of its source's tokens a row is */
    int32_t* source_node;  /* [rows] the node of its source */
    /* [rows, ranks of the node]: 1: this rank gets the row's token as well. Of a notify with
     * UCG_MOE_NOTIFY_HOLDERS. */
    int32_t* holders;
} ucg_moe_matrices_t;
#define UCG_MOE_MATRICES_INIT                                                                      \
    {                                                                                              \
        sizeof(ucg_moe_matrices_t), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, NULL, NULL, NULL, NULL                                                           \
    }

/**
 * Fills the arrays that are there. Local. Ranks of the node are those that are not masked.
 *
 * @return UCS_OK. With nothing filled: UCS_ERR_EXCEEDS_LIMIT: per_expert, rounded up, is above 2^31
 * - 1; UCS_ERR_NO_ELEM: the notify had no flag for received_by_all or holders. UCS_ERR_NO_MEMORY:
 * some may be filled.
 */
ucs_status_t ucg_moe_handle_matrices(ucg_moe_handle_h handle, ucg_moe_matrices_t* matrices);

/* ------------------------------------------------------------------ the expanded layout */

/* A row for each choice, expert by expert. An expert's rows begin at a multiple of the alignment,
 * are in the order of (source rank, token, place among the choices), and have padding behind them.
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

/** Lets it go; requests made with it keep what they need. */
void ucg_moe_expansion_release(ucg_moe_expansion_h expansion);

typedef struct ucg_moe_expansion_attr {
    size_t struct_size;
    uint32_t rows; /* all, with padding */
    /* As long as the expansion lives: */
    const uint32_t* begins; /* [local experts + 1] */
    const uint32_t* counts; /* [local experts] without padding */
    const uint32_t*
        row_of; /* [received rows, k] row of each choice; UINT32_MAX: it is not of this rank */
} ucg_moe_expansion_attr_t;
#define UCG_MOE_EXPANSION_ATTR_INIT \
    { sizeof(ucg_moe_expansion_attr_t), 0, NULL, NULL, NULL }

/** Fills what fits into attr->struct_size bytes. */
ucs_status_t ucg_moe_expansion_query(ucg_moe_expansion_h expansion, ucg_moe_expansion_attr_t* attr);

/* ------------------------------------------------------------------ dispatch and combine */

enum ucg_moe_dispatch_flags {
    /* Of the expanded layout: rows of padding become 0. */
    UCG_MOE_DISPATCH_ZERO_PADDING = 1u << 0
};

/*
 * All ranks give the same optional tensors, with the same types and last dimensions; with UCG_CHECK
 * that is compared. Outputs may have more rows than come.
 */
typedef struct ucg_moe_dispatch_args {
    size_t struct_size;
    uint32_t flags;          /* of ucg_moe_dispatch_flags */
    ucg_moe_tensor_t x;      /* [tokens, hidden] bf16, fp16, fp32 or fp8_e4m3 */
    ucg_moe_tensor_t scales; /* optional, of fp8: [tokens, any] fp32, int32 or uint8; any strides */
    ucg_moe_tensor_t weights;      /* optional: [tokens, k] fp32 */
    ucg_moe_expansion_h expansion; /* NULL: a row for each token; else for each choice */
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
 * Prepares a dispatch, which can be started any number of times; the tensors' memory is used by
 * each.
 *
 * @param request_p  Gets the request, also with an error: start it where the other ranks start
 *                   theirs.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: also an expansion of another handle;
 *         UCS_ERR_BUFFER_TOO_SMALL: an output has too few rows; UCS_ERR_UNSUPPORTED: a memory type,
 *         an unknown flag; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_moe_dispatch_init(ucg_moe_handle_h handle, const ucg_moe_dispatch_args_t* args,
                                   ucg_request_h* request_p);

/**
 * Prepares notify and dispatch as one operation, so that nobody waits for counts in between. The
 * request can be started once; then ucg_moe_notify_handle() has what came.
 *
 * @param choices    As ucg_moe_notify_init() has them; timeout and callback are not looked at.
 * @param args       As ucg_moe_dispatch_init() has them, without an expansion; timeout and callback
 *                   are those of the operation. Outputs have as many rows as can come
 *                   (ucg_moe_max_rows()) or as are known to be enough.
 * @param alignment  0: a row for each token; else the expanded layout, which ucg_moe_expand() with
 *                   the handle and this alignment describes afterwards.
 * @param request_p  Gets the request, also with an error: start it where the other ranks start
 *                   theirs.
 * @return as ucg_moe_notify_init() and ucg_moe_dispatch_init(): all that can be seen without the
 * other ranks, also UCS_ERR_BUFFER_TOO_SMALL where inputs have fewer rows than there are tokens.
 * The request ends as that of ucg_moe_notify_init() can, and with UCS_ERR_BUFFER_TOO_SMALL where an
 * output turns out to have too few rows for what comes.
 */
ucs_status_t ucg_moe_notify_dispatch_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* choices,
                                          const ucg_moe_dispatch_args_t* args, uint32_t alignment,
                                          ucg_request_h* request_p);

/*
 * Sums are made in fp32 and rounded to the type of x: by the relay of a node, if there is one, and
 * at the end. The order is that of ranks; what a relay adds up stands where the lowest rank of its
 * node would. Weights are not applied.
 */
typedef struct ucg_moe_combine_args {
    size_t struct_size;
    /* [rows, hidden] bf16, fp16 or fp32: for each received token what this rank's experts made of
     * it; expanded: for each choice, which are then added up first. Rows of all tensors here are
     * dense. */
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
 * Casts rows to fp8_e4m3 with a scale for each 128 elements. Local. Infinities and what is no
 * number do not count for the scale: they become the largest number of their sign, and what is no
 * number.
 *
 * @param x       [rows, hidden] bf16, fp16 or fp32, of dense rows; hidden is a multiple of 128.
 * @param out     [rows, hidden] fp8_e4m3.
 * @param scales  [rows, hidden / 128] fp32 or uint8, as the scaling says.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_BUFFER_TOO_SMALL: an output has fewer rows than x;
 *         UCS_ERR_UNSUPPORTED: a memory type.
 */
ucs_status_t ucg_moe_cast_fp8(const ucg_moe_tensor_t* x, ucg_moe_scaling_t scaling,
                              ucg_moe_tensor_t* out, ucg_moe_tensor_t* scales);

/* max_tokens, cast, scaling, and type and last dimension of x are the same on every rank. The
 * experts of a token differ: one that is there twice is refused. */
typedef struct ucg_moe_low_latency_args {
    size_t struct_size;
    uint32_t max_tokens; /* that a rank has at most; this one may have fewer. From 1, and
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

/** Where the rows of the last start lie; after it ended well. UCS_ERR_NO_ELEM: it did not. */
ucs_status_t ucg_moe_low_latency_handle(ucg_request_h request, ucg_moe_slots_h* slots_p);

/** Lets it go; requests made with it keep what they need. */
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

/* How rows travel; the same on every rank. One of them or none: without, the rows for a rank are
 * copied into one message where they do not lie so anyway. Rows of this rank's own experts are
 * added up where they lie, if they are dense and not compressed. */
enum ucg_moe_low_latency_combine_flags {
    /* Rows are compressed to 10 bits a value and 32 for each 128 values: 164 bytes of 256, so
     * hidden / 128 * 164 bytes a row. x is bf16, and hidden a multiple of 128. All rows are, also
     * those that stay on this rank: results do not depend on which rank has which expert, or on
     * which node it is.
     *
     * Of each 128 values a row keeps top, the largest magnitude, and bottom, the smallest one but
     * 0, in bf16, and of each value its sign and a code c from 0 to 511:
     *
     *     step = min(log2(top / bottom), 32) / 510
     *     value = +- top * 2^((c - 511) * step), or 0 where c is 0
     *
     * which is computed in fp32, with the same bits on every machine, and goes into the sum without
     * another rounding. The code is the one whose value is nearest. So a value of at least 2^-32
     * top is off by no more than step * ln 2 / 2 of it: 2.2 % where magnitudes of 128 values reach
     * over 32 powers of two or more, 0.55 % over 8; the largest is exact, and all are where there
     * is but one magnitude. What is smaller than 2^-32 top is off by no more than 2^-33 top.
     * Infinities, and what is no number, arrive as no number, and spoil no other value. */
    UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10 = 1u << 0,
    /* Rows are sent from where they lie in x, so that nothing is copied into messages (transports
     * may still copy short ones): a message for each expert with rows for a rank. x has no gaps
     * between rows. The bits of results are the same. Meant for experts that have many rows for a
     * rank, or long ones. */
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
 * As ucg_moe_dispatch_init(); with ucg_moe_low_latency_combine_flags that do not fit x or each
 * other UCS_ERR_INVALID_PARAM, unknown ones UCS_ERR_UNSUPPORTED. The request ends with
 * UCS_ERR_MESSAGE_TRUNCATED where lengths of rows differ between ranks, also because of flags.
 */
ucs_status_t ucg_moe_low_latency_combine_init(ucg_moe_slots_h slots,
                                              const ucg_moe_low_latency_combine_args_t* args,
                                              ucg_request_h* request_p);

END_C_DECLS

#endif
