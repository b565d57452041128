/* How the ranks of a group find each other: a small allgather that works before there is a group.
 */
#ifndef UCG_API_UCG_OOB_H_
#define UCG_API_UCG_OOB_H_

#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/**
 * What a group is made over. A program fills one in over whatever connects its ranks already, or
 * takes one of the bundled ones below (or of ucg_oob_mpi.h).
 *
 * A round is one allgather. All members begin the same rounds in the same order with the same
 * number of bytes, and each has one round under way at a time. Rounds are few and their blocks
 * small (some hundred bytes): addresses are exchanged this way, not data.
 *
 * Threads: the calls for one object come one after the other, from any thread. Different objects
 * are independent of each other. Nothing moves but in these calls.
 */
typedef struct ucg_oob {
    /** sizeof(ucg_oob_t) as the caller was compiled. */
    size_t struct_size;

    /** Place of this process among those who exchange, less than `size`. */
    uint32_t rank;

    /** How many exchange, at least 1. */
    uint32_t size;

    /**
     * Begins a round.
     *
     * @param arg      the member `arg`.
     * @param send     `bytes` bytes of this rank.
     * @param recv     room for size * bytes bytes, which come in the order of ranks. Both stay
     *                 where they are, and `send` stays as it is, until the request was released.
     *                 `send` may be this rank's place in `recv`; else they do not overlap.
     * @param bytes    the same on all ranks; 0: a barrier.
     * @param request  what `test` and `release` take; set only with UCS_OK.
     * @return UCS_OK: begun, possibly ended already. UCS_ERR_BUSY: another round is under way. Any
     *         other error: nothing was begun and nothing is to be released.
     */
    ucs_status_t (*allgather)(void* arg, const void* send, void* recv, size_t bytes,
                              void** request);

    /**
     * Moves a round on; never waits.
     *
     * A round may end well on some ranks and fail on others, of which one died or was late after
     * these had all blocks; it is the next round that fails on all.
     *
     * @return UCS_OK: `recv` is complete. UCS_INPROGRESS: call it again. An error: the round has
     *         failed, and further rounds over this object fail as well: UCS_ERR_TIMED_OUT when
     *         members did not come in time, UCS_ERR_CONNECTION_RESET when one died or left, and
     *         others. The same answer again once it ended.
     */
    ucs_status_t (*test)(void* arg, void* request);

    /** Frees the request. One that has not ended is given up: further rounds fail everywhere. */
    void (*release)(void* arg, void* request);

    /** First argument of all functions. */
    void* arg;

    /* The rest is optional: all of it, or none (NULL). With it a rank looks up the addresses of
     * those that it sends to, when it does, instead of getting those of all ranks. What was made
     * over such an object asks it as long as it is there: the object outlives the groups made over
     * it, those split from them, and their context, which is driven in turn with others that use
     * the object, as the calls for one object come one after the other. */

    /**
     * Gives the others a block to look up. All ranks publish in the same order among themselves and
     * among their rounds.
     *
     * @param block   `bytes` bytes, at least 1, which are copied.
     * @param number  gets how many this rank has published before: what `lookup` asks for.
     * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT: too long, or too much is published; other errors.
     * Where it fails nothing was published, and this rank may go on with rounds.
     */
    ucs_status_t (*publish)(void* arg, const void* block, size_t bytes, uint64_t* number);

    /**
     * Asks for the block that a rank published under a number. Never waits. To be called when a
     * round has ended well that began after this rank published under that number, and until it
     * withdraws it.
     *
     * @param block  gets the block with UCS_OK. Nothing of it is kept after the call.
     * @param bytes  the room; gets the bytes of the block.
     * @return UCS_OK. UCS_INPROGRESS: call it again; who does not want to know any more may stop.
     *         Else it cannot be had: UCS_ERR_CONNECTION_RESET: who keeps it died or left.
     *         UCS_ERR_TIMED_OUT. UCS_ERR_BUFFER_TOO_SMALL: `bytes` says how much it needs.
     *         UCS_ERR_INVALID_PARAM: there is no such rank or number, or no round has followed.
     */
    ucs_status_t (*lookup)(void* arg, uint64_t number, uint32_t rank, void* block, size_t* bytes);

    /**
     * This rank asks for nothing of this number any more.
     *
     * @return UCS_OK. UCS_INPROGRESS: others may still ask this rank, or are not told yet: call it
     *         again, as long as this rank can wait.
     */
    ucs_status_t (*withdraw)(void* arg, uint64_t number);

    /** Answers what others ask of this rank; called again and again while something is published.
     * Never waits. */
    void (*progress)(void* arg);

    /** A combination of ucg_oob_flags. */
    uint32_t flags;
} ucg_oob_t;

enum ucg_oob_flags {
    /** Only the ranks of the object, and those who could read the memory of the ranks anyway, can
     * read and change what goes over it. Then ranks may give each other a random job key over it
     * (UCG_RANDOM_JOB_KEY in docs/bootstrap.md). */
    UCG_OOB_PRIVATE = 1u << 0
};

/** An object of one rank without functions: what a program begins with that sets its own. */
#define UCG_OOB_INIT \
    { sizeof(ucg_oob_t), 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* Bundled objects
 *
 * What they share: a member that is not there in time, dies, or leaves ends the round on all others
 * with a status, and one line of the log (component ucg.oob) says who it was as far as that can be
 * known. `timeout` is how long a round may take, in seconds from its begin on this rank: 0 is 300,
 * HUGE_VAL (of math.h) waits for ever. When it is over, ranks of a store ask rank 0 and ranks of
 * PMIx their server who is missing, which may take 3 and 2 seconds more. They install no signal
 * handlers, and start no threads, but libpmix has threads of its own.
 *
 * An object belongs to the process that begins the first round over it; one of a folder or of PMIx
 * to the process that creates it. In a child that this process forks its copy may be destroyed,
 * which frees what the child has of it and disturbs nobody; a round over it fails with
 * UCS_ERR_INVALID_PARAM.
 */

/** What ucg_oob_create_tcp takes. Start with UCG_OOB_TCP_PARAMS_INIT. */
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
 * A store at rank 0, to which all others connect. Rank 0 listens at the port on all addresses of
 * its host, or only on the loopback address where `host` is one. The others try until rank 0 is
 * there. Looking up a name may block as long as the resolver does; nothing else blocks.
 *
 * There is no secret: who reaches the port and knows size and job can take the place of a rank.
 *
 * Stores may follow each other at one port. After one that failed, best under another name of the
 * job: ranks of the same name that have not come to the failed one take its failure for theirs as
 * long as its rank 0 is there.
 *
 * @param params  read during the call.
 * @param oob_p   the object, set only with UCS_OK.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_BUSY (rank 0: somebody listens at the port),
 *         UCS_ERR_IO_ERROR (rank 0: the port cannot be opened), UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_tcp(const ucg_oob_tcp_params_t* params, ucg_oob_t** oob_p);

/** What ucg_oob_create_directory takes. Start with UCG_OOB_DIRECTORY_PARAMS_INIT. */
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
 * Files in a folder. Everything is in a folder ucg-JOB below `path` that only this user may enter
 * and that is removed when all members have left. The file system must have hard links. The calls
 * do input and output, which may block as long as the file system does.
 *
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_ALREADY_EXISTS (files of an older job of this
 *         name, or this rank is there already), UCS_ERR_REJECTED (the folder is of another user or
 *         open to others), UCS_ERR_IO_ERROR (a file cannot be written; the log says why),
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_directory(const ucg_oob_directory_params_t* params, ucg_oob_t** oob_p);

/**
 * The processes of this one's PMIx name space: what mpirun, prterun or srun --mpi=pmix started
 * together. All of them take part, so there is one object of this kind at a time: all processes
 * create their objects, and go through the rounds over them, in the same order. The first connects
 * to the launcher's server, which may block, and stays connected until the process ends.
 * libpmix.so.2 is loaded when it is needed.
 *
 * A round that this process gives up, or whose time is over, cannot be taken back from the server:
 * no further one is possible in this process, over whatever object of this kind.
 *
 * @param timeout  seconds for a round; 0: 300.
 * @return UCS_OK, UCS_ERR_UNSUPPORTED (no PMIx library here, or not in this build),
 *         UCS_ERR_UNREACHABLE (no launcher that speaks PMIx), UCS_ERR_CANCELED (an earlier round
 *         did not end), UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucg_oob_create_pmix(double timeout, ucg_oob_t** oob_p);

/**
 * What the environment says. UCG_OOB is pmix, tcp, directory, or single (this process alone); when
 * it is not set, the first of these that is there:
 *   - PMIX_NAMESPACE and PMIX_RANK: PMIx;
 *   - UCG_OOB_DIR, where MASTER_ADDR is not set, with UCG_OOB_RANK and UCG_OOB_SIZE (or RANK and
 *     WORLD_SIZE) and UCG_OOB_JOB: files;
 *   - RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, as torchrun sets them: TCP, at the port
 *     UCG_OOB_PORT if set, else MASTER_PORT, or the port above it where torchrun itself listens at
 *     MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE);
 *   - none of them: this process alone. Some of them is an error, which names what is missing.
 * UCG_OOB_JOB is the job's name for TCP as well, UCG_OOB_TIMEOUT the time for a round ("90s",
 * "10m").
 *
 * @return as the functions above; UCS_ERR_INVALID_PARAM where variables are missing or malformed.
 */
ucs_status_t ucg_oob_create_env(ucg_oob_t** oob_p);

/**
 * A board in memory, for processes forked after this call, and for threads. Tests are its main use.
 * A round may take 300 seconds.
 *
 * @param size  number of ranks, at least 1.
 * @param all   room for `size` pointers. Rank r uses all[r] only, and destroys it; destroying
 *              others in a process that does not use them is allowed and disturbs nobody.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY, or why there is no shared memory, with
 *         a line in the log. That two processes are one rank is found by the first round:
 *         UCS_ERR_ALREADY_EXISTS.
 */
ucs_status_t ucg_oob_create_local(uint32_t size, ucg_oob_t** all);

/**
 * Leaves, and frees a bundled object; NULL is allowed. Never waits. Requests not released are given
 * up. Members that have ended all their rounds are not disturbed.
 */
void ucg_oob_destroy(ucg_oob_t* oob);

END_C_DECLS

#endif
