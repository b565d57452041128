/* Bootstrap of a group: an out-of-band allgather by which its ranks exchange addresses.
 */
#ifndef UCG_API_UCG_OOB_H_
#define UCG_API_UCG_OOB_H_

#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/**
 * The out-of-band exchange over which a group is created. A program implements one over its
 * existing connections, or uses one of the bundled objects below (or in ucg_oob_mpi.h).
 *
 * A round is one allgather. All ranks begin the same rounds in the same order with the same number
 * of bytes, and each has one active round at a time. Rounds are few and their blocks small (some
 * hundred bytes), because they carry addresses and no data.
 *
 * Threads: calls for one object are serialized, from any thread. Different objects are independent
 * of each other. Progress happens only in these calls.
 */
typedef struct ucg_oob {
    /** sizeof(ucg_oob_t) as the caller was compiled. */
    size_t struct_size;

    /** Rank of this process in the exchange, less than `size`. */
    uint32_t rank;

    /** Number of ranks, at least 1. */
    uint32_t size;

    /**
     * Begins a round.
     *
     * @param arg      the member `arg`.
     * @param send     `bytes` bytes of this rank.
     * @param recv     memory for size * bytes bytes, in the order of ranks. Both buffers stay
     *                 valid, and `send` unchanged, until the request is released. `send` may be
     *                 this rank's block in `recv`; otherwise they must not overlap.
     * @param bytes    the same on all ranks; 0: a barrier.
     * @param request  the argument for `test` and `release`; set only with UCS_OK.
     * @return UCS_OK: the round has begun, and may have ended. UCS_ERR_BUSY: another round is
     * active. After any other error no round has begun, and the caller releases nothing.
     */
    ucs_status_t (*allgather)(void* arg, const void* send, void* recv, size_t bytes,
                              void** request);

    /**
     * Progresses a round; never blocks.
     *
     * A round may succeed on some ranks and fail on others, if a rank died or was late after the
     * first had all blocks. The next round then fails on all ranks.
     *
     * @return UCS_OK: `recv` is complete. UCS_INPROGRESS: call it again. An error: the round has
     * failed, and further rounds over this object fail as well: UCS_ERR_TIMED_OUT if ranks did not
     * arrive in time, UCS_ERR_CONNECTION_RESET if one died or left, and others. Repeats the status
     * after the round has ended.
     */
    ucs_status_t (*test)(void* arg, void* request);

    /** Frees the request. An active round is canceled, and further rounds fail on all ranks. */
    void (*release)(void* arg, void* request);

    /** First argument of all functions. */
    void* arg;

    /* The following functions are optional: all of them, or none (NULL). With them a rank looks up
     * the address of a peer when it first sends to it, instead of receiving the addresses of all
     * ranks. The object must outlive the groups created over it, groups split from them, and their
     * context. Calls for the object stay serialized: progress of the context and other users of the
     * object must not run concurrently. */

    /**
     * Publishes a block that other ranks can look up. All ranks publish in the same order, also
     * relative to their rounds.
     *
     * @param block   `bytes` bytes, at least 1, which are copied.
     * @param number  receives the number of blocks that this rank published before, which is the
     *                argument for `lookup`.
     * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT: the block is too long, or too much is published; other
     * errors. After an error nothing was published, and this rank may continue with rounds.
     */
    ucs_status_t (*publish)(void* arg, const void* block, size_t bytes, uint64_t* number);

    /**
     * Looks up the block that a rank published under a number. Never blocks. The caller must have
     * published under this number, then completed a successful round, and not have withdrawn the
     * number.
     *
     * @param block  receives the block with UCS_OK. The object does not access it after the call.
     * @param bytes  the size of `block`; receives the size of the published block.
     * @return UCS_OK. UCS_INPROGRESS: call it again; the caller may also stop. Otherwise the
     *         look-up failed: UCS_ERR_CONNECTION_RESET: the process that stores the block died or
     *         left. UCS_ERR_TIMED_OUT. UCS_ERR_BUFFER_TOO_SMALL: `bytes` has the required size.
     *         UCS_ERR_INVALID_PARAM: there is no such rank or number, or no round has followed.
     */
    ucs_status_t (*lookup)(void* arg, uint64_t number, uint32_t rank, void* block, size_t* bytes);

    /**
     * Ends the look-ups of this rank under a number.
     *
     * @return UCS_OK. UCS_INPROGRESS: other ranks may still send requests to this rank, or are not
     * notified yet: call it again, as long as this rank can wait.
     */
    ucs_status_t (*withdraw)(void* arg, uint64_t number);

    /** Serves look-ups of other ranks. The caller repeats it while a block is published. Never
     * blocks. */
    void (*progress)(void* arg);

    /** A combination of ucg_oob_flags. */
    uint32_t flags;
} ucg_oob_t;

enum ucg_oob_flags {
    /** The exchange is private: only its ranks, and processes that could read the memory of the
     * ranks anyway, can read and change its data. Ranks may then exchange a random job key over it
     * (UCG_RANDOM_JOB_KEY in docs/bootstrap.md). */
    UCG_OOB_PRIVATE = 1u << 0
};

/** An object of one rank without functions, as the initial value for a program's own object. */
#define UCG_OOB_INIT \
    { sizeof(ucg_oob_t), 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* Bundled objects
 *
 * Common properties: if a rank is late, dies or leaves, the round ends on all other ranks with an
 * error, and a line in the log (component ucg.oob) names the rank if it is known. `timeout` limits
 * a round, in seconds from its begin on this rank: 0 is 300, HUGE_VAL (of math.h) waits for ever.
 * After the timeout, ranks of a TCP store request the missing ranks from rank 0, and ranks of PMIx
 * from their server, which may take 3 and 2 seconds more. The objects install no signal handlers
 * and start no threads, but libpmix has threads of its own.
 *
 * An object belongs to the process that begins its first round; an object over a folder or PMIx
 * belongs to the process that creates it. A forked child may destroy its copy, which frees the
 * child's resources and does not disturb other ranks. A round over such a copy fails with
 * UCS_ERR_INVALID_PARAM.
 */

/** Arguments of ucg_oob_create_tcp. Initialise with UCG_OOB_TCP_PARAMS_INIT. */
typedef struct ucg_oob_tcp_params {
    size_t struct_size; /* sizeof(ucg_oob_tcp_params_t) */
    uint32_t rank;      /* less than size */
    uint32_t size;      /* number of ranks, at least 1 */
    const char* host;   /* name or address (IPv4, IPv6) of the host of rank 0 */
    uint16_t port;      /* where rank 0 listens; not 0 */
    double timeout;     /* seconds for a round; 0: 300 */
    const char* job; /* NULL, or a name: ranks of jobs of other names are not mixed up with ours */
} ucg_oob_tcp_params_t;

#define UCG_OOB_TCP_PARAMS_INIT \
    { sizeof(ucg_oob_tcp_params_t), 0, 1, NULL, 0, 0.0, NULL }

/**
 * Creates a store at rank 0, to which all other ranks connect. Rank 0 listens at the port on all
 * addresses of its host, or only on the loopback address if `host` is one. The other ranks retry
 * until rank 0 listens. Resolving a name may block; nothing else blocks.
 *
 * Without a job key there is no secret: a process that reaches the port and knows size and job can
 * take the place of a rank.
 *
 * Consecutive stores may use one port. After a failed store the next one should use another job
 * name: ranks that had not joined the failed store may otherwise receive its failure while its rank
 * 0 exists.
 *
 * @param params  read during the call.
 * @param oob_p   the object, set only with UCS_OK.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_BUSY (rank 0: the port is in use),
 *         UCS_ERR_IO_ERROR (rank 0: the port cannot be opened), UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_tcp(const ucg_oob_tcp_params_t* params, ucg_oob_t** oob_p);

/** Arguments of ucg_oob_create_directory. Initialise with UCG_OOB_DIRECTORY_PARAMS_INIT. */
typedef struct ucg_oob_directory_params {
    size_t struct_size; /* sizeof(ucg_oob_directory_params_t) */
    uint32_t rank;      /* less than size */
    uint32_t size;      /* number of ranks, at least 1 */
    const char* path;   /* a folder that all ranks see and may write in */
    const char* job;    /* letters, digits, . _ -, at most 100; for one job only, ever */
    double timeout;     /* seconds for a round; 0: 300 */
} ucg_oob_directory_params_t;

#define UCG_OOB_DIRECTORY_PARAMS_INIT \
    { sizeof(ucg_oob_directory_params_t), 0, 1, NULL, NULL, 0.0 }

/**
 * Creates an exchange over files. They are in a folder ucg-JOB below `path` that only this user may
 * enter, and that is removed when all ranks have left. The file system must support hard links. The
 * calls do input and output, which may block.
 *
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_ALREADY_EXISTS (files of an older job of this
 *         name, or this rank is there already), UCS_ERR_REJECTED (the folder is of another user or
 *         open to others), UCS_ERR_IO_ERROR (a file cannot be written; the log says why),
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_directory(const ucg_oob_directory_params_t* params, ucg_oob_t** oob_p);

/**
 * Creates an exchange among the processes of this process's PMIx namespace, which mpirun, prterun
 * or srun --mpi=pmix started together. All processes take part: they must create their objects, and
 * run the rounds over them, in the same order. The first object connects to the launcher's server,
 * which may block, and stays connected until the process ends. libpmix.so.2 is loaded on first use.
 *
 * A round that this process cancels, or that times out, cannot be withdrawn from the server: no
 * further round is possible in this process over any PMIx object.
 *
 * @param timeout  seconds for a round; 0: 300.
 * @return UCS_OK, UCS_ERR_UNSUPPORTED (no PMIx library here, or not in this build),
 *         UCS_ERR_UNREACHABLE (no launcher that speaks PMIx), UCS_ERR_CANCELED (an earlier round
 *         did not end), UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_pmix(double timeout, ucg_oob_t** oob_p);

/**
 * Creates the exchange that the environment selects. UCG_OOB is pmix, tcp, directory, or single
 * (this process alone); if it is not set, the first of these that is set:
 *   - PMIX_NAMESPACE and PMIX_RANK: PMIx;
 *   - UCG_OOB_DIR, where MASTER_ADDR is not set, with UCG_OOB_RANK and UCG_OOB_SIZE (or RANK and
 *     WORLD_SIZE) and UCG_OOB_JOB: files;
 *   - RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, as torchrun sets them: TCP, at the port
 *     UCG_OOB_PORT if set, else MASTER_PORT, or the port above it where torchrun itself listens at
 *     MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE);
 *   - none of them: this process alone. An incomplete set is an error that names the missing
 * variable. UCG_OOB_JOB is the job's name for TCP as well, UCG_OOB_TIMEOUT the time for a round
 * ("90s", "10m").
 *
 * @return as the functions above; UCS_ERR_INVALID_PARAM where variables are missing or malformed.
 */
ucs_status_t ucg_oob_create_env(ucg_oob_t** oob_p);

/**
 * Creates a board in shared memory, for threads and for processes forked after this call; mainly
 * for tests. The timeout of a round is 300 seconds.
 *
 * @param size  number of ranks, at least 1.
 * @param all   memory for `size` pointers. Rank r uses all[r] only, and destroys it. A process may
 *              also destroy objects that it does not use, which does not disturb other ranks.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY, or the error of the shared memory, with
 * a line in the log. If two processes use the same rank, the first round fails with
 * UCS_ERR_ALREADY_EXISTS.
 */
ucs_status_t ucg_oob_create_local(uint32_t size, ucg_oob_t** all);

/**
 * Leaves the exchange and frees a bundled object; NULL is allowed. Never blocks. Unreleased
 * requests are canceled. Ranks that have ended all their rounds are not disturbed.
 */
void ucg_oob_destroy(ucg_oob_t* oob);

END_C_DECLS

#endif
