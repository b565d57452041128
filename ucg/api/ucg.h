/*
 * Collectives of Hawser: groups of processes and what they do together.
 *
 * Shape of a program:
 *
 *     ucg_context_create()                      once per process
 *     ucg_group_create(), ucg_group_test()      who takes part; ucg_oob.h: how they find each other
 *     ucg_allreduce() ...                       blocking; or:
 *     ucg_request_init()                        chooses an algorithm and gets all memory it needs
 *     ucg_request_start(), ucg_request_test()   as often as wanted
 *     ucg_request_free()
 *     ucg_group_destroy(), ucg_context_destroy()
 *
 * Rules that hold for all functions:
 *
 *  - Every rank of a group starts the same operations with arguments that fit each other, in the
 *    same order of starts. Any number may be under way; they may end in any order.
 *  - Nothing moves by itself: ucg_progress() (or a function that waits) moves all groups of a
 *    context on.
 *  - A struct's first member is its size, set by the macro that initialises it. What a newer
 *    library knows and an older program does not is so seen to be absent. Zero and NULL mean
 *    "the default" everywhere.
 *  - Functions return UCS_OK or a negative status and then log one line that says what is wrong.
 *    They never abort.
 *  - Thread mode SINGLE and SERIALIZED: one call into a context and its groups at a time. MULTI:
 *    any.
 *  - Options that ranks choose algorithms by (UCG_SEGMENT, UCG_LEADERS, UCG_ALLREDUCE, ...) are the
 *    same on all ranks of a group; one whose ranks differ is not made.
 *  - After an operation failed, timed out or was canceled on some rank it fails, within a bounded
 *    time, on every rank where it has not ended yet; others may have ended it well. It lets go of
 *    its buffers when the ranks that it sent to have taken or dropped what was sent; one that lives
 *    but makes no progress for 10 seconds counts as lost to the group from then on.
 *  - A group of which an operation failed can be destroyed, and a new one made. Whether it can be
 *    used on is not promised: operations that use the memory of a node (algorithm shared_memory and
 *    the hierarchical ones) fail from then on with the same status. What serves after an exchange
 * of ucg_moe.h failed stands there.
 *  - Callbacks run in whatever call made progress. They may call ucg_request_start(), _test(),
 *    _cancel(), _query() and _set_buffers(); nothing that waits, makes progress, frees or destroys.
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
    /* Who calls: UCS_THREAD_MODE_SINGLE (default), _SERIALIZED or _MULTI. */
    ucs_thread_mode_t thread_mode;
    /* A worker to talk through, with the features TAG and AM. It stays the caller's, outlives the
     * context, and has no other user of tagged messages or of active message id 0x7567. NULL: the
     * context makes one of its own when the first group needs one; a group whose ranks share a node
     * does not. */
    ucp_worker_h worker;
} ucg_context_params_t;
#define UCG_CONTEXT_PARAMS_INIT \
    { sizeof(ucg_context_params_t), UCS_THREAD_MODE_SINGLE, NULL }

/**
 * Makes a context: options (UCG_* in the environment or in ucx.conf) are read here.
 *
 * @param params     May be NULL: all defaults.
 * @param context_p  Gets the context.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM (also for a malformed option), UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_context_create(const ucg_context_params_t* params, ucg_context_h* context_p);

/** Destroys a context, which has no group any more. Where others may still ask this process for
 * addresses (ucg_oob.h), it answers them first, for at most 5 seconds. */
void ucg_context_destroy(ucg_context_h context);

/**
 * Moves everything on: operations, groups that are being made, timeouts. Callbacks run in here.
 *
 * @return How much happened; 0: nothing.
 */
unsigned ucg_progress(ucg_context_h context);

/* ------------------------------------------------------------------ groups */

typedef struct ucg_group_params {
    size_t struct_size;
    /* How the ranks find each other; it says as well which of them this process is. Used only until
     * ucg_group_test() returns something else than UCS_INPROGRESS; one with lookups (ucg_oob.h) as
     * long as the context is there. */
    const ucg_oob_t* oob;
    /* Seconds until the making of the group is given up; 0: 300. */
    double timeout;
    /* How many groups of the same ranks ucg_group_make_sibling() is to make later. They get room in
     * the memory of this group, which takes address space at once, and memory as they are used. All
     * ranks get the smallest number that one of them wants, at most 63; fewer where all groups
     * together would take more than 512 MiB of address space, and none where the ranks are on
     * several nodes. */
    uint32_t siblings;
} ucg_group_params_t;
#define UCG_GROUP_PARAMS_INIT \
    { sizeof(ucg_group_params_t), NULL, 0, 0 }

/**
 * Begins to make a group of all ranks that the out-of-band exchange connects. Never blocks.
 *
 * @param group_p  Gets the group, which cannot be used before ucg_group_test() returned UCS_OK.
 * @return UCS_OK: it has begun. UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_group_create(ucg_context_h context, const ucg_group_params_t* params,
                              ucg_group_h* group_p);

/** In ucg_group_split(): this rank will be in none of the new groups. */
#define UCG_SPLIT_NONE UINT32_MAX

/**
 * Begins to make groups of the ranks of another one; every rank of it calls this, in the same place
 * among its splits; operations of the parent may be under way or be started meanwhile. No
 * out-of-band exchange is needed. The new groups are independent of the parent once they are made;
 * until then it cannot be split again.
 *
 * @param parent   Ready (ucg_group_test() returned UCS_OK); not destroyed before the new group is
 * ready.
 * @param color    Ranks with the same color come into the same group; UCG_SPLIT_NONE: into none.
 * @param key      Ranks are numbered by rising key, and by their rank in the parent where keys are
 * equal.
 * @param group_p  Gets the group; ucg_group_test() says when it can be used. With UCG_SPLIT_NONE it
 * is one that only ucg_group_test() and ucg_group_destroy() may be called for.
 * @return UCS_OK: it has begun. UCS_ERR_BUSY: another split of the parent is not ready.
 * UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_group_split(ucg_group_h parent, uint32_t color, uint32_t key,
                             ucg_group_h* group_p);

/**
 * Makes another group of the same ranks in the memory that was set aside for it
 * (ucg_group_params_t::siblings). Takes no exchange and waits for nobody: the n-th call of every
 * rank gives the same group, so ranks call it equally often in the same order. The group can be
 * used at once, is independent of the first one, and may outlive it; its part of the memory is
 * given back with the last of the groups.
 *
 * @param group      Made by ucg_group_create(), and ready.
 * @param sibling_p  Gets the group.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM; UCS_ERR_BUSY: not ready. UCS_ERR_NO_RESOURCE: no room is
 * left, or the group comes from ucg_group_split() or is a sibling itself. UCS_ERR_NO_MEMORY: the
 * call counts, and operations in the others' group of this number fail.
 */
ucs_status_t ucg_group_make_sibling(ucg_group_h group, ucg_group_h* sibling_p);

/**
 * Moves the making of a group on.
 *
 * @return UCS_INPROGRESS; UCS_OK: it can be used; else why not, the same on every rank that is
 * alive as far as the exchange can tell them. A group that failed is to be destroyed.
 */
ucs_status_t ucg_group_test(ucg_group_h group);

/** Calls ucg_group_test() until it is decided; gives up the processor meanwhile. */
ucs_status_t ucg_group_wait(ucg_group_h group);

/**
 * Destroys a group. All its requests were freed, and no group is being made of it: otherwise it
 * stays, and the log says so. A call of one rank does not wait for the others longer than it takes
 * to hand over what they still need, at most a few seconds where some are dead.
 */
void ucg_group_destroy(ucg_group_h group);

/** Place of this process in the group, and how many there are; of one that is not ready UINT32_MAX
 * and 0. */
uint32_t ucg_group_rank(ucg_group_h group);
uint32_t ucg_group_size(ucg_group_h group);

typedef struct ucg_group_attr {
    size_t struct_size;
    uint32_t rank, size;
    /* Nodes (as UCG_NODE_ID, network and process namespaces and hosts tell them apart), which of
     * them this rank is on, which rank of that node it is, and how many that has. */
    uint32_t nodes, node, node_rank, node_size;
    /* Ranks whose address this process keeps, of this group and those that share addresses with it:
     * all, or where addresses are looked up (UCG_LAZY_ADDRESSES) those that it had to do with; 0
     * where all ranks share a node. */
    uint32_t addresses;
    /* How many more groups ucg_group_make_sibling() can make of this one. */
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

/* ------------------------------------------------------------------ what can be done */

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

/** Bytes of an element; 0 for UCG_TYPE_OPAQUE and what is no type. */
size_t ucg_type_size(ucg_type_t type);
/** Whether such elements can be reduced so; 0 for what is no type or no operation. */
int ucg_op_is_defined(ucg_type_t type, ucg_op_t op);

/** Names, as in the text of ucg_perf; "unknown" for other numbers. */
const char* ucg_coll_name(ucg_coll_t coll);
const char* ucg_type_name(ucg_type_t type);
const char* ucg_op_name(ucg_op_t op);

/* An operator of the caller's: inout[i] = in[i] op inout[i] for i < count. Associative. */
typedef struct ucg_user_op {
    size_t struct_size;
    void (*function)(const void* in, void* inout, uint64_t count, void* arg);
    void* arg;
    /* 0: operands are taken in the order of ranks, `in` from the lower ones. */
    int commutative;
} ucg_user_op_t;
#define UCG_USER_OP_INIT \
    { sizeof(ucg_user_op_t), NULL, NULL, 1 }

enum ucg_coll_flags {
    /* The input lies in dst, as MPI_IN_PLACE has it: of gather(v) at the root and of allgather(v)
     * where this rank's block belongs; of alltoall(v) and scans in dst; of scatter(v) at the root
     * its own block stays in src. src (of scatter: dst) is not looked at then. */
    UCG_COLL_IN_PLACE = 1u << 0,
    /* The same bits whatever arrives first, however data are cut, and however many nodes there are.
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
 *  GATHERV                count elements         root: dst_counts[]     what this rank gives
 *  SCATTER                root: size blocks      one block              a block
 *  SCATTERV               root: src_counts[]     count elements         what this rank gets
 *  ALLGATHER              one block              size blocks            a block
 *  ALLGATHERV             own block              dst_counts[]           -
 *  REDUCE_SCATTER         sum of dst_counts[]    own block              -
 *  REDUCE_SCATTER_BLOCK   size blocks            one block              a block
 *  ALLTOALL               size blocks            size blocks            a block
 *  ALLTOALLV              src_counts[]           dst_counts[]           -
 *
 * src_displs and dst_displs say where each block begins; NULL: they follow each other. Arrays are
 * read until the request is freed and may not change. Buffers that a rank has no use for may be
 * NULL. src and dst may not overlap, and neither may blocks of dst; blocks of src may.
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
    /* Where the buffers are. This library serves UCS_MEMORY_TYPE_HOST. */
    ucs_memory_type_t src_memory;
    ucs_memory_type_t dst_memory;
    /* Seconds from its start after which the operation ends with UCS_ERR_TIMED_OUT on every rank;
     * the log says for whom it waited: see `missing` of ucg_request_attr_t. 0: as UCG_TIMEOUT says,
     * which waits for ever if it is not set. */
    double timeout;
    /* Called when the operation ended, with what ucg_request_test() returns; may be NULL. It may
     * start the request again, and may not free it (see the rules above). */
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg);
    void* callback_arg;
    /* Name of an algorithm that must be used, as ucg_request_query() gives it; NULL: the best. */
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
 * Prepares an operation, which can be started any number of times: chooses an algorithm and gets
 * all memory that it needs. Local: nothing is sent, and ranks may prepare in any order.
 *
 * Where the arguments of this rank are refused it returns an error and makes a request all the
 * same: when that is started in its place among the others, the operation ends with this error on
 * every rank, and nobody waits for this one. Of the group holds then what is said of an operation
 * that failed; where all ranks share a node, it was not the buffers, memory types or timeout that
 * were refused, and the collective is none of gatherv, scatterv, alltoallv, scan and exscan, this
 * rank takes part in nothing of the group any more, and what needs it ends with the same error.
 * With UCG_CHECK=y, where ranks are compared first, the group serves as before. Blocking calls that
 * are refused do all this at once. To ask what can be done, prepare a request and free it.
 *
 * @param request_p  Gets the request, also with an error, or NULL where there is none: a pointer is
 *                   NULL, args was not initialised, the group cannot be used, or there is no memory
 *                   for the request itself. What it gets is to be freed.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: arguments that make no sense, which the log names.
 * UCS_ERR_OUT_OF_RANGE: counts whose bytes overflow. UCS_ERR_UNSUPPORTED: a memory type, or an
 * operation that is not defined for the type. UCS_ERR_NO_ELEM: no algorithm of that name, or it
 * cannot serve this. UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_request_init(ucg_group_h group, const ucg_coll_args_t* args,
                              ucg_request_h* request_p);

/**
 * Starts it. All ranks start the operations of a group in the same order. Buffers are the library's
 * until it ended. What can be done at once is done in here, and it may even have ended.
 *
 * @return UCS_OK; UCS_ERR_BUSY: the last start has not ended.
 */
ucs_status_t ucg_request_start(ucg_request_h request);

/**
 * Takes other buffers from the next start on; not while it runs.
 *
 * @return UCS_OK; UCS_ERR_BUSY: it runs. UCS_ERR_INVALID_PARAM: the buffers are refused, and a
 * start ends with that on every rank until others are set. Of a request whose init was refused,
 * what that returned.
 */
ucs_status_t ucg_request_set_buffers(ucg_request_h request, const void* src, void* dst);

/** UCS_INPROGRESS, or how the last start ended; UCS_OK before the first. Makes no progress. */
ucs_status_t ucg_request_test(ucg_request_h request);

/**
 * Moves on what this operation waits for: the least work of all that makes progress, for loops that
 * do other things as well. Such a loop calls ucg_progress() now and then, too, for everything else
 * and for time limits.
 *
 * @return How much happened; 0: nothing.
 */
unsigned ucg_request_progress(ucg_request_h request);

/** Makes progress until it ended; gives up the processor while nothing happens. */
ucs_status_t ucg_request_wait(ucg_request_h request);

/**
 * Ends an operation that runs with UCS_ERR_CANCELED, on every rank of the group. It has ended when
 * ucg_request_test() says so: until then buffers are in use.
 */
ucs_status_t ucg_request_cancel(ucg_request_h request);

typedef struct ucg_request_attr {
    size_t struct_size;
    ucs_status_t status;   /* as ucg_request_test() */
    const char* algorithm; /* which one was chosen; as long as the request lives */
    const char* reason;    /* why, one line; as long as the request lives */
    /* The ranks that the operation waits for now, or that it waited for when its time was up: those
     * that have not begun it. Between nodes ranks that wait ask each other, for the first time
     * after a tenth of a second or a quarter of the timeout: who does not answer is among them as
     * well, and before that, or where all have begun it, those from whom something is missing. As
     * many as fit into `missing`, an array of missing_max entries of the caller's; missing_count
     * says how many there are. */
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
 * Frees a request that does not run.
 *
 * @return UCS_OK; UCS_ERR_BUSY: it runs, and is not freed.
 */
ucs_status_t ucg_request_free(ucg_request_h request);

/* ------------------------------------------------------------------ blocking calls */

/*
 * One call for init, start, wait and free. The group keeps what it prepared for the next call that
 * differs in nothing but the buffers. For all: arguments as ucg_coll_args_t has them, and what the
 * functions above return. src == UCG_IN_PLACE means in place.
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
/** Any operation, also those with counts of their own. args->callback is not called. */
ucs_status_t ucg_collective(ucg_group_h group, const ucg_coll_args_t* args);

END_C_DECLS

#endif
