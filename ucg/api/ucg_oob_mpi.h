/* ucg_oob_t over a communicator of MPI. Everything is in this header, so that it is compiled
   against the program's own MPI; libucg knows none. */
#ifndef UCG_API_UCG_OOB_MPI_H_
#define UCG_API_UCG_OOB_MPI_H_

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucg/api/ucg_oob.h>

/** The object of ucg_oob_mpi_create; pass &it->oob to ucg_group_create. Programs use only `oob`. */
typedef struct ucg_oob_mpi {
    ucg_oob_t oob;
    MPI_Comm comm;       /* a duplicate of the program's, for us alone */
    void* under_way;     /* the round that was begun and not released */
    ucs_status_t failed; /* of all further rounds; UCS_OK: they go on */
} ucg_oob_mpi_t;

/* State of a round; not for programs. MPI cannot cancel a collective and writes until the round has
 * ended. So MPI writes here, and not into a buffer that a caller may reuse after it cancelled the
 * round. */
typedef struct ucg_oob_mpi_round {
    MPI_Request request;
    ucs_status_t status; /* once it ended */
    void* recv;          /* the caller's */
    size_t size;         /* of all blocks, which follow */
} ucg_oob_mpi_round_t;

static inline ucs_status_t ucg_oob_mpi_allgather(void* arg, const void* send, void* recv,
                                                 size_t bytes, void** request) {
    ucg_oob_mpi_t* self = (ucg_oob_mpi_t*)arg;
    ucg_oob_mpi_round_t* round;
    unsigned char* blocks;

    if (self->failed != UCS_OK) return self->failed;
    if (self->under_way != NULL) return UCS_ERR_BUSY;
    if (bytes > (size_t)INT_MAX) return UCS_ERR_EXCEEDS_LIMIT;
    if (bytes > (SIZE_MAX - sizeof(*round)) / self->oob.size) return UCS_ERR_EXCEEDS_LIMIT;
    round = (ucg_oob_mpi_round_t*)malloc(sizeof(*round) + self->oob.size * bytes);
    if (round == NULL) return UCS_ERR_NO_MEMORY;
    round->status = UCS_INPROGRESS;
    round->recv = recv;
    round->size = self->oob.size * bytes;
    blocks = (unsigned char*)(round + 1);
    if (bytes != 0) memcpy(blocks + self->oob.rank * bytes, send, bytes);
    if (MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, (int)bytes, MPI_BYTE, self->comm,
                       &round->request) != MPI_SUCCESS) {
        free(round);
        self->failed = UCS_ERR_IO_ERROR;
        return self->failed;
    }
    self->under_way = round;
    *request = round;
    return UCS_OK;
}

static inline ucs_status_t ucg_oob_mpi_test(void* arg, void* request) {
    ucg_oob_mpi_t* self = (ucg_oob_mpi_t*)arg;
    ucg_oob_mpi_round_t* round = (ucg_oob_mpi_round_t*)request;
    int done = 0;

    if (round->status != UCS_INPROGRESS) return round->status;
    if (MPI_Test(&round->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        round->status = self->failed = UCS_ERR_CONNECTION_RESET;
    } else if (done) {
        round->status = UCS_OK;
        if (round->size != 0) memcpy(round->recv, round + 1, round->size);
    }
    return round->status;
}

/* A cancelled or failed round keeps its memory, because MPI may still write there. */
static inline void ucg_oob_mpi_release(void* arg, void* request) {
    ucg_oob_mpi_t* self = (ucg_oob_mpi_t*)arg;
    ucg_oob_mpi_round_t* round = (ucg_oob_mpi_round_t*)request;

    self->under_way = NULL;
    if (round->status == UCS_OK)
        free(round);
    else if (self->failed == UCS_OK)
        self->failed = UCS_ERR_CANCELED;
}

/**
 * Creates an exchange over a communicator. The call is collective: MPI_Comm_dup may wait. The
 * exchange has no lookups: groups over it exchange the addresses of all ranks, and use it only
 * while they are created.
 *
 * MPI has no timeouts: a round waits for ever for a rank that does not arrive, and MPI decides what
 * happens if a rank dies (usually it ends the job). A rank that cancels a round can begin no
 * further one, and MPI does not notify the other ranks: they wait in the next round until they
 * cancel it as well.
 *
 * @param comm   an intracommunicator.
 * @param oob_p  the object; ucg_oob_mpi_destroy frees it.
 * @return UCS_OK, UCS_ERR_NO_MEMORY, UCS_ERR_INVALID_PARAM where MPI refuses.
 */
static inline ucs_status_t ucg_oob_mpi_create(MPI_Comm comm, ucg_oob_mpi_t** oob_p) {
    ucg_oob_mpi_t* self = (ucg_oob_mpi_t*)malloc(sizeof(*self));
    int rank = 0;
    int size = 0;

    if (self == NULL) return UCS_ERR_NO_MEMORY;
    if (MPI_Comm_dup(comm, &self->comm) != MPI_SUCCESS) {
        free(self);
        return UCS_ERR_INVALID_PARAM;
    }
    /* Errors are returned as a status, as by the other objects. */
    MPI_Comm_set_errhandler(self->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(self->comm, &rank);
    MPI_Comm_size(self->comm, &size);
    self->under_way = NULL;
    self->failed = UCS_OK;
    self->oob.struct_size = sizeof(self->oob);
    self->oob.rank = (uint32_t)rank;
    self->oob.size = (uint32_t)size;
    self->oob.allgather = ucg_oob_mpi_allgather;
    self->oob.test = ucg_oob_mpi_test;
    self->oob.release = ucg_oob_mpi_release;
    self->oob.arg = self;
    /* MPI cannot serve look-ups while a rank is outside of MPI calls. */
    self->oob.publish = NULL;
    self->oob.lookup = NULL;
    self->oob.withdraw = NULL;
    self->oob.progress = NULL;
    *oob_p = self;
    return UCS_OK;
}

/** Collective over the ranks, before MPI_Finalize, when no round is active. NULL is allowed. After
 * a failed or cancelled round the call is not collective, and the duplicate of the communicator
 * remains, because MPI may still use it.
 */
static inline void ucg_oob_mpi_destroy(ucg_oob_mpi_t* self) {
    if (self == NULL) return;
    if (self->failed == UCS_OK && self->under_way == NULL) MPI_Comm_free(&self->comm);
    free(self);
}

#endif
