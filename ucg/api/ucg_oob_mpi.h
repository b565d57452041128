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

/** What ucg_oob_mpi_create makes: pass &it->oob on. Only `oob` is for programs. */
typedef struct ucg_oob_mpi {
    ucg_oob_t oob;
    MPI_Comm comm;       /* a duplicate of the program's, for us alone */
    void* under_way;     /* the round that was begun and not released */
    ucs_status_t failed; /* of all further rounds; UCS_OK: they go on */
} ucg_oob_mpi_t;

/* What the member functions need of MPI; not for programs. MPI can neither cancel a collective nor
   forget one: it writes until the round is over, so it writes here, and not where a caller that has
   given up may have other things by then. */
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

/* A round that is given up, and one that failed, keeps its memory: MPI may still write there. */
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
 * An object over the members of a communicator. Collective over it: MPI_Comm_dup may wait. Without
 * lookups: groups over it exchange the addresses of all ranks, and use it only while they are made.
 *
 * MPI has no timeouts: a round waits for ever for a member that does not come, and what MPI does
 * about one that dies is MPI's (usually it ends the job). Who gives a round up can begin no other
 * one, and MPI tells nobody: the others wait in the next round until they give up as well.
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
    /* What goes wrong comes back as a status, as with the other objects. */
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
    /* MPI has nobody who would answer while a rank is elsewhere. */
    self->oob.publish = NULL;
    self->oob.lookup = NULL;
    self->oob.withdraw = NULL;
    self->oob.progress = NULL;
    *oob_p = self;
    return UCS_OK;
}

/** Collective over the members, before MPI_Finalize, when no round is under way. NULL is allowed.
 * After a round that failed or was given up it is not collective, and the duplicate of the
 * communicator stays, as MPI may still use it.
 */
static inline void ucg_oob_mpi_destroy(ucg_oob_mpi_t* self) {
    if (self == NULL) return;
    if (self->failed == UCS_OK && self->under_way == NULL) MPI_Comm_free(&self->comm);
    free(self);
}

#endif
