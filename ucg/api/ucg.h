/*
 * Collectives of Hawser: groups of processes, and collective operations over them.
 *
 * Shape of a program:
 *
 *     ucg_context_create()                      once per process
 *     ucg_group_create(), ucg_group_test()      makes a group; ucg_oob.h: bootstrap of its ranks
 *     ucg_allreduce() ...                       blocking; or:
 *     ucg_request_init()                        selects an algorithm and allocates all memory
 *     ucg_request_start(), ucg_request_test()   any number of times
 *     ucg_request_free()
 *     ucg_group_destroy(), ucg_context_destroy()
 *
 * Rules that hold for all functions:
 *
 *  - Every rank of a group starts the same operations with matching arguments in the same order.
 *    Any number of operations may be active; they may end in any order.
 *  - There is no progress thread: ucg_progress() (or a function that waits) progresses all groups
 *    of a context.
 *  - A struct's first member is its size, set by the macro that initialises it. So a newer library
 *    recognises members that an older program does not have. Zero and NULL mean "the default"
 *    everywhere.
 *  - Functions return UCS_OK or a negative status, and log one line about each error. They never
 *    abort.
 *  - Thread mode SINGLE and SERIALIZED: one call into a context and its groups at a time. MULTI:
 *    any.
 *  - Options that select algorithms (UCG_SEGMENT, UCG_LEADERS, UCG_ALLREDUCE, ...) must be the same
 *    on all ranks of a group. Otherwise the creation of the group fails.
 *  - If an operation fails, times out or is canceled on some rank, it fails within a bounded time
 *    on every rank where it has not ended yet. It may have succeeded on other ranks. The operation
 *    releases its buffers when the receiving ranks have received or dropped the sent data. A living
 *    rank that makes no progress for 10 seconds counts as lost to the group.
 *  - After an operation of a group failed, the group can be destroyed and a new one made. Further
 *    use of the group is not guaranteed: operations that use the memory of a node (algorithm
 *    shared_memory and the hierarchical ones) fail with the same status from then on. ucg_moe.h
 *    describes the use after a failed exchange.
 *  - Callbacks run in the call that made progress. They may call ucg_request_start(), _test(),
 *    _cancel(), _query() and _set_buffers(), and no function that waits, makes progress, frees or
 *    destroys.
 */
#ifndef UCG_H_
#define UCG_H_

#include <stddef.h>
#include <stdint.h>
#include <ucg/api/ucg_oob.h>
#include <ucp/api/ucp_def.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <ucs/type/thread_mode.h>

BEGIN_C_DECLS

/* Version of this interface. A library serves programs of the same major version. */
#define UCG_API_MAJOR 0
#define UCG_API_MINOR 1

typedef struct ucg_context* ucg_context_h;
typedef struct ucg_group* ucg_group_h;
typedef struct ucg_request* ucg_request_h;

/* ------------------------------------------------------------------ context */

typedef struct ucg_context_params {
    size_t struct_size;
    /* The threads that call: UCS_THREAD_MODE_SINGLE (default), _SERIALIZED or _MULTI. */
    ucs_thread_mode_t thread_mode;
    /* The worker for communication, with the features TAG and AM. The caller owns it. It must
     * outlive the context, and must have no other user of tagged messages or of active message id
     * 0x7567. NULL: the context creates its own worker when the first group needs one. A group
     * whose ranks share a node needs none. */
    ucp_worker_h worker;
} ucg_context_params_t;
#define UCG_CONTEXT_PARAMS_INIT \
    { sizeof(ucg_context_params_t), UCS_THREAD_MODE_SINGLE, NULL }

/**
 * Creates a context. Reads the options (UCG_* in the environment or in ucx.conf).
 *
 * @param params     May be NULL: all defaults.
 * @param context_p  Receives the context.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM (also for a malformed option), UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_context_create(const ucg_context_params_t* params, ucg_context_h* context_p);

/** Destroys a context. All its groups must be destroyed. If other ranks may still look up addresses
 * at this process (ucg_oob.h), it serves them first, for at most 5 seconds. */
void ucg_context_destroy(ucg_context_h context);

/**
 * Progresses operations, the creation of groups, and timeouts. Runs callbacks.
 *
 * @return The number of events; 0: none.
 */
unsigned ucg_progress(ucg_context_h context);

/* ------------------------------------------------------------------ groups */

typedef struct ucg_group_params {
    size_t struct_size;
    /* The out-of-band exchange of the ranks, which also defines the rank of this process. It is
     * used until ucg_group_test() does not return UCS_INPROGRESS; an exchange with lookups
     * (ucg_oob.h) is used as long as the context exists. */
    const ucg_oob_t* oob;
    /* Timeout of the group's creation in seconds; 0: 300. */
    double timeout;
    /* Number of groups of the same ranks that ucg_group_make_sibling() can make later. The memory
     * of this group reserves address space for them at once, and memory when they are used. All
     * ranks get the smallest number that a rank requests, at most 63; fewer if all groups together
     * exceed 512 MiB of address space; 0 if the ranks are on several nodes. */
    uint32_t siblings;
} ucg_group_params_t;
#define UCG_GROUP_PARAMS_INIT \
    { sizeof(ucg_group_params_t), NULL, 0, 0 }

/**
 * Begins to create a group of all ranks of the out-of-band exchange. Never blocks.
 *
 * @param group_p  Receives the group, which cannot be used before ucg_group_test() returns UCS_OK.
 * @return UCS_OK: it has begun. UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_group_create(ucg_context_h context, const ucg_group_params_t* params,
                              ucg_group_h* group_p);

/** Color for ucg_group_split(): this rank is in none of the new groups. */
#define UCG_SPLIT_NONE UINT32_MAX

/**
 * Begins to split a group into new groups. Every rank of the parent calls this, in the same order
 * of its splits. Operations of the parent may be active or be started meanwhile. No out-of-band
 * exchange is needed. The new groups are independent of the parent once they are ready; until then
 * the parent cannot be split again.
 *
 * @param parent   Ready (ucg_group_test() returned UCS_OK); not destroyed before the new group is
 * ready.
 * @param color    Ranks with the same color come into the same group; UCG_SPLIT_NONE: into none.
 * @param key      Ranks are numbered by rising key, and by their rank in the parent where keys are
 * equal.
 * @param group_p  Receives the group, which can be used when ucg_group_test() returns UCS_OK. With
 *                 UCG_SPLIT_NONE only ucg_group_test() and ucg_group_destroy() accept the group.
 * @return UCS_OK: it has begun. UCS_ERR_BUSY: another split of the parent is not ready.
 * UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_group_split(ucg_group_h parent, uint32_t color, uint32_t key,
                             ucg_group_h* group_p);

/**
 * Creates another group of the same ranks in reserved memory (ucg_group_params_t::siblings). Needs
 * no exchange and does not wait: the n-th call of every rank returns the same group, so all ranks
 * must call it equally often in the same order. The group can be used at once, is independent of
 * the first group, and may outlive it. The memory is freed with the last of the groups.
 *
 * @param group      A group from ucg_group_create() that is ready.
 * @param sibling_p  Gets the group.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM; UCS_ERR_BUSY: not ready. UCS_ERR_NO_RESOURCE: no room is
 * left, or the group comes from ucg_group_split() or is a sibling itself. UCS_ERR_NO_MEMORY: the
 * call counts, and operations in the others' group of this number fail.
 */
ucs_status_t ucg_group_make_sibling(ucg_group_h group, ucg_group_h* sibling_p);

/**
 * Progresses the creation of a group.
 *
 * @return UCS_INPROGRESS; UCS_OK: the group can be used; otherwise the error, which is the same on
 * every living rank as far as the exchange can notify them. The caller destroys a failed group.
 */
ucs_status_t ucg_group_test(ucg_group_h group);

/** Calls ucg_group_test() until it returns a final status; yields the processor meanwhile. */
ucs_status_t ucg_group_wait(ucg_group_h group);

/**
 * Destroys a group. All its requests must be freed, and no split of it may be in progress;
 * otherwise the group is not destroyed and an error is logged. The call waits only until the other
 * ranks have received the data that they still need, at most a few seconds if some are dead.
 */
void ucg_group_destroy(ucg_group_h group);

/** Rank of this process in the group, and the number of ranks; UINT32_MAX and 0 if the group is not
 * ready. */
uint32_t ucg_group_rank(ucg_group_h group);
uint32_t ucg_group_size(ucg_group_h group);

typedef struct ucg_group_attr {
    size_t struct_size;
    uint32_t rank, size;
    /* The number of nodes (distinguished by UCG_NODE_ID, network and process namespaces and hosts),
     * the node of this rank, its rank in that node, and the number of ranks of that node. */
    uint32_t nodes, node, node_rank, node_size;
    /* Number of ranks whose addresses this process stores, for this group and groups that share its
     * addresses: all ranks, or with address look-up (UCG_LAZY_ADDRESSES) only those that it has
     * communicated with; 0 if all ranks share a node. */
    uint32_t addresses;
    /* Number of further groups that ucg_group_make_sibling() can make. */
    uint32_t siblings_left;
} ucg_group_attr_t;
#define UCG_GROUP_ATTR_INIT \
    { sizeof(ucg_group_attr_t), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Fills what fits into attr->struct_size bytes.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: attr was not initialised; UCS_ERR_BUSY: not ready.
 */
ucs_status_t ucg_group_query(ucg_group_h group, ucg_group_attr_t* attr);

/* ------------------------------------------------------------------ collectives, types and
 * operators */

typedef enum ucg_coll {
    UCG_COLL_BARRIER,
    UCG_COLL_BCAST,
    UCG_COLL_REDUCE,
    UCG_COLL_ALLREDUCE,
    UCG_COLL_GATHER,
    UCG_COLL_GATHERV,
    UCG_COLL_SCATTER,
    UCG_COLL_SCATTERV,
    UCG_COLL_ALLGATHER,
    UCG_COLL_ALLGATHERV,
    UCG_COLL_REDUCE_SCATTER,       /* blocks of dst_counts[] elements */
    UCG_COLL_REDUCE_SCATTER_BLOCK, /* blocks of count elements */
    UCG_COLL_ALLTOALL,
    UCG_COLL_ALLTOALLV,
    UCG_COLL_SCAN,
    UCG_COLL_EXSCAN,
    UCG_COLL_LAST,
    UCG_COLL_ANY_INT = -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_coll_t;

typedef enum ucg_type {
    UCG_TYPE_INT8,
    UCG_TYPE_INT16,
    UCG_TYPE_INT32,
    UCG_TYPE_INT64,
    UCG_TYPE_UINT8,
    UCG_TYPE_UINT16,
    UCG_TYPE_UINT32,
    UCG_TYPE_UINT64,
    UCG_TYPE_FP16,     /* IEEE 754 binary16 */
    UCG_TYPE_BF16,     /* the upper half of an fp32 */
    UCG_TYPE_FP8_E4M3, /* OCP: no infinities, largest 448 */
    UCG_TYPE_FP8_E5M2, /* OCP: largest 57344 */
    UCG_TYPE_FP32,
    UCG_TYPE_FP64,
    UCG_TYPE_COMPLEX32, /* two fp32 */
    UCG_TYPE_COMPLEX64, /* two fp64 */
    /* A value and a 32-bit place, laid out as C does: struct { T value; int32_t place; }. */
    UCG_TYPE_INT16_AT,
    UCG_TYPE_INT32_AT,
    UCG_TYPE_INT64_AT,
    UCG_TYPE_FP32_AT,
    UCG_TYPE_FP64_AT,
    /* Elements of ucg_coll_args_t.element_size bytes that only an operator of the caller's reduces.
     */
    UCG_TYPE_OPAQUE,
    UCG_TYPE_LAST,
    UCG_TYPE_ANY_INT = -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_type_t;

typedef enum ucg_op {
    UCG_OP_SUM,
    UCG_OP_PRODUCT,
    UCG_OP_MIN,
    UCG_OP_MAX,
    UCG_OP_AVERAGE, /* the sum, divided once by the number of ranks; of integers cut towards zero */
    UCG_OP_LOGICAL_AND, /* of integers, as the five below; the result is 0 or 1 */
    UCG_OP_LOGICAL_OR,
    UCG_OP_LOGICAL_XOR,
    UCG_OP_BITWISE_AND,
    UCG_OP_BITWISE_OR,
    UCG_OP_BITWISE_XOR,
    UCG_OP_MIN_AT, /* of types with a place: of equal values the lower place */
    UCG_OP_MAX_AT,
    UCG_OP_USER, /* ucg_coll_args_t.user_op */
    UCG_OP_LAST,
    UCG_OP_ANY_INT = -0x7fffffff - 1 /* not used: lets wrong numbers be passed and refused */
} ucg_op_t;

/** Bytes of an element; 0 for UCG_TYPE_OPAQUE and invalid types. */
size_t ucg_type_size(ucg_type_t type);
/** Returns 1 if the operator is defined for the type; 0 otherwise, and for invalid values. */
int ucg_op_is_defined(ucg_type_t type, ucg_op_t op);

/** Names, as printed by ucg_perf; "unknown" for invalid values. */
const char* ucg_coll_name(ucg_coll_t coll);
const char* ucg_type_name(ucg_type_t type);
const char* ucg_op_name(ucg_op_t op);

/* An operator of the caller's: inout[i] = in[i] op inout[i] for i < count. Associative. */
typedef struct ucg_user_op {
    size_t struct_size;
    void (*function)(const void* in, void* inout, uint64_t count, void* arg);
    void* arg;
    /* 0: operands are combined in the order of ranks, with `in` from lower ranks. */
    int commutative;
} ucg_user_op_t;
#define UCG_USER_OP_INIT \
    { sizeof(ucg_user_op_t), NULL, NULL, 1 }

enum ucg_coll_flags {
    /* The input lies in dst, as MPI_IN_PLACE has it: of gather(v) at the root and of allgather(v)
     * where this rank's block belongs; of alltoall(v) and scans in dst; of scatter(v) at the root
     * its own block stays in src. src (of scatter: dst) is not looked at then. */
    UCG_COLL_IN_PLACE = 1u << 0,
    /* The result has the same bits for every order of arrival, segmentation and number of nodes.
     */
    UCG_COLL_DETERMINISTIC = 1u << 1
};

/*
 * Arguments of an operation. Counts and displacements are in elements.
 *
 *  operation              src                    dst                    count
 *  BARRIER                -                      -                      -
 *  BCAST                  -                      all, in and out        the whole
 *  REDUCE                 the whole              root: the whole        the whole
 *  ALLREDUCE, (EX)SCAN    the whole              the whole              the whole
 *  GATHER                 one block              root: size blocks      a block
 *  GATHERV                count elements         root: dst_counts[]     what this rank sends
 *  SCATTER                root: size blocks      one block              a block
 *  SCATTERV               root: src_counts[]     count elements         what this rank receives
 *  ALLGATHER              one block              size blocks            a block
 *  ALLGATHERV             own block              dst_counts[]           -
 *  REDUCE_SCATTER         sum of dst_counts[]    own block              -
 *  REDUCE_SCATTER_BLOCK   size blocks            one block              a block
 *  ALLTOALL               size blocks            size blocks            a block
 *  ALLTOALLV              src_counts[]           dst_counts[]           -
 *
 * src_displs and dst_displs are the offsets of the blocks; NULL: the blocks are contiguous. Arrays
 * are read until the request is freed and must not change. Buffers that a rank does not use may be
 * NULL. src and dst must not overlap, and neither may blocks of dst; blocks of src may.
 */
typedef struct ucg_coll_args {
    size_t struct_size;
    ucg_coll_t coll;
    uint32_t flags; /* of ucg_coll_flags */
    const void* src;
    void* dst;
    uint64_t count;
    ucg_type_t type;
    uint32_t root;
    const uint64_t* src_counts;
    const uint64_t* src_displs;
    const uint64_t* dst_counts;
    const uint64_t* dst_displs;
    ucg_op_t op;
    const ucg_user_op_t* user_op; /* of UCG_OP_USER; is copied */
    size_t element_size;          /* of UCG_TYPE_OPAQUE */
    /* Memory types of the buffers. This library supports UCS_MEMORY_TYPE_HOST. */
    ucs_memory_type_t src_memory;
    ucs_memory_type_t dst_memory;
    /* Timeout in seconds from the start of the operation, after which it ends with
     * UCS_ERR_TIMED_OUT on every rank. The log names the missing ranks: see `missing` of
     * ucg_request_attr_t. 0: the timeout of UCG_TIMEOUT, which is infinite by default. */
    double timeout;
    /* Called when the operation ends, with the status that ucg_request_test() returns; may be NULL.
     * The callback may start the request again, and must not free it (see the rules above). */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
    /* Name of the algorithm to use, as returned by ucg_request_query(); NULL: select the best. */
    const char* algorithm;
} ucg_coll_args_t;
#define UCG_COLL_ARGS_INIT                                                                        \
    {                                                                                             \
        sizeof(ucg_coll_args_t), UCG_COLL_BARRIER, 0, NULL, NULL, 0, UCG_TYPE_UINT8, 0, NULL,     \
            NULL, NULL, NULL, UCG_OP_SUM, NULL, 0, UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_HOST, 0, \
            NULL, NULL, NULL                                                                      \
    }

/* ------------------------------------------------------------------ requests */

/**
 * Prepares an operation, which can be started any number of times: selects an algorithm and
 * allocates all memory. Local: sends nothing, and ranks may prepare in any order.
 *
 * If the arguments of this rank are refused, the function returns an error and makes a request
 * nevertheless. When that request is started in its order, the operation ends with this error on
 * every rank, so that no rank waits for this one. The rule for groups with a failed operation then
 * applies. In one case this rank cannot take part in any operation of the group any more, and
 * operations that need it end with the same error: all ranks share a node, the refused arguments
 * are not buffers, memory types or the timeout, and the collective is none of gatherv, scatterv,
 * alltoallv, scan and exscan. With UCG_CHECK=y, where the arguments of ranks are compared first,
 * the group remains usable. Refused blocking calls do all this at once. To find out if arguments
 * are supported, prepare a request and free it.
 *
 * @param request_p  Receives the request, also with most errors, or NULL if a pointer is NULL, args
 *                   was not initialised, the group cannot be used, or there is no memory for the
 *                   request itself. The caller frees the request.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: invalid arguments, which the log names.
 * UCS_ERR_OUT_OF_RANGE: counts whose bytes overflow. UCS_ERR_UNSUPPORTED: a memory type, or an
 * operation that is not defined for the type. UCS_ERR_NO_ELEM: no algorithm of that name, or it
 * cannot serve this. UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_request_init(ucg_group_h group, const ucg_coll_args_t* args,
                              ucg_request_h* request_p);

/**
 * Starts the operation. All ranks start the operations of a group in the same order. The library
 * owns the buffers until the operation has ended. The operation may end during this call.
 *
 * @return UCS_OK; UCS_ERR_BUSY: the last start has not ended.
 */
ucs_status_t ucg_request_start(ucg_request_h request);

/**
 * Sets other buffers from the next start on. Must not be called while the operation is active.
 *
 * @return UCS_OK; UCS_ERR_BUSY: the operation is active. UCS_ERR_INVALID_PARAM: the buffers are
 * refused, and starts end with this error on every rank until other buffers are set. If the init
 * was refused, its error.
 */
ucs_status_t ucg_request_set_buffers(ucg_request_h request, const void* src, void* dst);

/** Returns UCS_INPROGRESS, or the status of the last start; UCS_OK before the first. Makes no
 * progress. */
ucs_status_t ucg_request_test(ucg_request_h request);

/**
 * Progresses what this operation waits for: the cheapest progress call, for loops that do other
 * work as well. Such a loop must also call ucg_progress() from time to time, for all other progress
 * and for timeouts.
 *
 * @return The number of events; 0: none.
 */
unsigned ucg_request_progress(ucg_request_h request);

/** Makes progress until the operation has ended; yields the processor while nothing happens. */
ucs_status_t ucg_request_wait(ucg_request_h request);

/**
 * Ends an active operation with UCS_ERR_CANCELED on every rank of the group. The buffers are in use
 * until ucg_request_test() returns a final status.
 */
ucs_status_t ucg_request_cancel(ucg_request_h request);

typedef struct ucg_request_attr {
    size_t struct_size;
    ucs_status_t status;   /* as ucg_request_test() */
    const char* algorithm; /* which one was chosen; as long as the request lives */
    const char* reason;    /* why, one line; as long as the request lives */
    /* The ranks that the operation waits for, or waited for at its timeout: those that have not
     * begun it. Between nodes, waiting ranks query each other, first after a tenth of a second or a
     * quarter of the timeout; ranks that do not reply are listed as well. Before that, or if all
     * ranks have begun, the list has the ranks whose data are missing. `missing` is an array of the
     * caller with missing_max entries, and receives as many ranks as fit; missing_count receives
     * the total. */
    uint32_t* missing;
    uint32_t missing_max;
    uint32_t missing_count;
} ucg_request_attr_t;
#define UCG_REQUEST_ATTR_INIT \
    { sizeof(ucg_request_attr_t), UCS_OK, NULL, NULL, NULL, 0, 0 }

/**
 * Fills what fits into attr->struct_size bytes.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: attr was not initialised.
 */
ucs_status_t ucg_request_query(ucg_request_h request, ucg_request_attr_t* attr);

/**
 * Frees an inactive request.
 *
 * @return UCS_OK; UCS_ERR_BUSY: the operation is active, and the request is not freed.
 */
ucs_status_t ucg_request_free(ucg_request_h request);

/* ------------------------------------------------------------------ blocking calls */

/*
 * One call for init, start, wait and free. The group caches the prepared operation for the next
 * call that differs in its buffers only. Arguments are those of ucg_coll_args_t, and return values
 * those of the functions above. src == UCG_IN_PLACE means in place.
 */
#define UCG_IN_PLACE ((void*)1)

ucs_status_t ucg_barrier(ucg_group_h group);
ucs_status_t ucg_bcast(ucg_group_h group, void* buffer, uint64_t count, ucg_type_t type,
                       uint32_t root);
ucs_status_t ucg_reduce(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, ucg_op_t op, uint32_t root);
ucs_status_t ucg_allreduce(ucg_group_h group, const void* src, void* dst, uint64_t count,
                           ucg_type_t type, ucg_op_t op);
ucs_status_t ucg_gather(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, uint32_t root);
ucs_status_t ucg_scatter(ucg_group_h group, const void* src, void* dst, uint64_t count,
                         ucg_type_t type, uint32_t root);
ucs_status_t ucg_allgather(ucg_group_h group, const void* src, void* dst, uint64_t count,
                           ucg_type_t type);
ucs_status_t ucg_reduce_scatter_block(ucg_group_h group, const void* src, void* dst, uint64_t count,
                                      ucg_type_t type, ucg_op_t op);
ucs_status_t ucg_alltoall(ucg_group_h group, const void* src, void* dst, uint64_t count,
                          ucg_type_t type);
ucs_status_t ucg_scan(ucg_group_h group, const void* src, void* dst, uint64_t count,
                      ucg_type_t type, ucg_op_t op);
ucs_status_t ucg_exscan(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, ucg_op_t op);
/** Any operation, including those with counts for each rank. args->callback is not called. */
ucs_status_t ucg_collective(ucg_group_h group, const ucg_coll_args_t* args);

END_C_DECLS

#endif
