/* ucg_oob_t over a communicator of MPI. Everything is in this header, so that it is compiled
   against the program's own MPI; libucg knows none. */
#ifndef UCG_API_UCG_OOB_MPI_H_
#define UCG_API_UCG_OOB_MPI_H_

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <ucg/api/ucg_oob.h>

/** What ucg_oob_mpi_create makes: pass &it->oob on. */
typedef struct ucg_oob_mpi {
    ucg_oob_t oob;
    MPI_Comm comm; /* a duplicate of the program's, for us alone */
} ucg_oob_mpi_t;

/* What the member functions need of MPI; not for programs. */
typedef struct ucg_oob_mpi_round {
    MPI_Request request;
    ucs_status_t status; /* once it ended */
} ucg_oob_mpi_round_t;

static inline ucs_status_t ucg_oob_mpi_allgather(void* arg, const void* send, void* recv,
                                                 size_t bytes, void** request) {
    ucg_oob_mpi_t* self = (ucg_oob_mpi_t*)arg;
    ucg_oob_mpi_round_t* round;

    if (bytes > (size_t)INT_MAX) return UCS_ERR_EXCEEDS_LIMIT;
    round = (ucg_oob_mpi_round_t*)malloc(sizeof(*round));
    if (round == NULL) return UCS_ERR_NO_MEMORY;
    round->status = UCS_INPROGRESS;
    if (MPI_Iallgather(send, (int)bytes, MPI_BYTE, recv, (int)bytes, MPI_BYTE, self->comm,
                       &round->request) != MPI_SUCCESS) {
        free(round);
        return UCS_ERR_IO_ERROR;
    }
    *request = round;
    return UCS_OK;
}

static inline ucs_status_t ucg_oob_mpi_test(void* arg, void* request) {
    ucg_oob_mpi_round_t* round = (ucg_oob_mpi_round_t*)request;
    int done = 0;

    (void)arg;
    if (round->status != UCS_INPROGRESS) return round->status;
    if (MPI_Test(&round->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        round->status = UCS_ERR_CONNECTION_RESET;
    } else if (done) {
        round->status = UCS_OK;
    }
    return round->status;
}

/* MPI can neither cancel a collective nor forget one: a round that is given up leaks its request,
   and its memory must stay. */
static inline void ucg_oob_mpi_release(void* arg, void* request) {
    (void)arg;
    free(request);
}

/**
 * An object over the members of a communicator. Collective over it: MPI_Comm_dup may wait.
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
    self->oob.struct_size = sizeof(self->oob);
    self->oob.rank = (uint32_t)rank;
    self->oob.size = (uint32_t)size;
    self->oob.allgather = ucg_oob_mpi_allgather;
    self->oob.test = ucg_oob_mpi_test;
    self->oob.release = ucg_oob_mpi_release;
    self->oob.arg = self;
    *oob_p = self;
    return UCS_OK;
}

/** Collective over the members, before MPI_Finalize, when no round is under way. NULL is allowed.
 */
static inline void ucg_oob_mpi_destroy(ucg_oob_mpi_t* self) {
    if (self == NULL) return;
    MPI_Comm_free(&self->comm);
    free(self);
}

#endif
