/* A rank that meets the others by the environment's settings, or over MPI. Prints its final status.
   usage: rank env|mpi rounds | lookups | absent | again | die | giveup
     rounds  exchanges blocks of several sizes and checks them
     lookups each publishes blocks and looks up those of all others
     again   the same over two objects, one after the other
     absent  the last rank does not take part in the second round; the others end with a timeout
     die     rank 1 kills itself before the second round; the others print their status
     giveup  over MPI: rank 0 gives up the second round, which then ends for the others */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef OVER_MPI
#include <ucg/api/ucg_oob_mpi.h>
#endif
#include <ucg/api/ucg_oob.h>

static void rest(void) {
    const struct timespec time = {0, 100000};
    nanosleep(&time, NULL);
}

static unsigned char pattern(uint32_t rank, size_t round, size_t index) {
    return (unsigned char)(rank * 29 + round * 7 + index + (index >> 8));
}

static ucs_status_t exchange(const ucg_oob_t* oob, const void* send, void* recv, size_t bytes) {
    void* request = NULL;
    ucs_status_t status = oob->allgather(oob->arg, send, recv, bytes, &request);

    if (status != UCS_OK) return status;
    while ((status = oob->test(oob->arg, request)) == UCS_INPROGRESS)
        rest();
    oob->release(oob->arg, request);
    return status;
}

/* Ends the process if the check fails. */
static ucs_status_t check_round(const ucg_oob_t* oob, size_t round, size_t bytes) {
    unsigned char* send = malloc(bytes + 1);
    unsigned char* recv = malloc(oob->size * bytes + 1);
    ucs_status_t status;
    uint32_t rank;
    size_t index;

    if (send == NULL || recv == NULL) exit(3);
    for (index = 0; index < bytes; ++index)
        send[index] = pattern(oob->rank, round, index);
    status = exchange(oob, send, recv, bytes);
    for (rank = 0; status == UCS_OK && rank < oob->size; ++rank)
        for (index = 0; index < bytes; ++index)
            if (recv[rank * bytes + index] != pattern(rank, round, index)) {
                printf("WRONG round %zu, rank %u, byte %zu\n", round, rank, index);
                exit(4);
            }
    free(send);
    free(recv);
    return status;
}

static ucs_status_t check_rounds(const ucg_oob_t* oob) {
    static const size_t sizes[] = {1, 0, 64, 4096, 0, 1 << 20, 7};
    ucs_status_t status = UCS_OK;
    size_t i;

    for (i = 0; status == UCS_OK && i < sizeof(sizes) / sizeof(sizes[0]); ++i)
        status = check_round(oob, i, sizes[i]);
    return status;
}

/* Number of bytes of a rank's block `number`; lengths differ. */
static size_t length_of(uint32_t rank, uint64_t number) {
    return 100 + rank + 1000 * number;
}

static ucs_status_t look_up(const ucg_oob_t* oob, uint64_t number, uint32_t rank) {
    unsigned char found[5000];
    size_t bytes = sizeof(found), index;
    ucs_status_t status;

    while ((status = oob->lookup(oob->arg, number, rank, found, &bytes)) == UCS_INPROGRESS) {
        oob->progress(oob->arg);
        rest();
    }
    if (status != UCS_OK) return status;
    for (index = 0; index < bytes || bytes != length_of(rank, number); ++index)
        if (bytes != length_of(rank, number) || found[index] != pattern(rank, number, index)) {
            printf("WRONG block %u of rank %u, byte %zu\n", (unsigned)number, rank, index);
            exit(4);
        }
    return UCS_OK;
}

static ucs_status_t check_lookups(const ucg_oob_t* oob) {
    unsigned char own[5000];
    ucs_status_t status = UCS_OK;
    uint64_t number = 0, i;
    uint32_t rank;
    size_t index;

    for (i = 0; status == UCS_OK && i < 3; ++i) {
        for (index = 0; index < length_of(oob->rank, i); ++index)
            own[index] = pattern(oob->rank, i, index);
        status = oob->publish(oob->arg, own, length_of(oob->rank, i), &number);
        if (status == UCS_OK && number != i) exit(5);
        if (status == UCS_OK) status = check_round(oob, 2 * i, 8);
        for (rank = 0; status == UCS_OK && rank < oob->size; ++rank)
            status = look_up(oob, i, rank);
        if (status == UCS_OK) status = check_round(oob, 2 * i + 1, 8);
    }
    for (i = 0; status == UCS_OK && i < 3; ++i)
        while ((status = oob->withdraw(oob->arg, i)) == UCS_INPROGRESS)
            rest();
    return status;
}

static ucs_status_t act(const ucg_oob_t* oob, const char* action) {
    ucs_status_t status;

    if (strcmp(action, "lookups") == 0) return check_lookups(oob);
    if (strcmp(action, "absent") != 0 && strcmp(action, "die") != 0) return check_rounds(oob);
    status = check_round(oob, 0, 100);
    if (status != UCS_OK) return status;
    if (strcmp(action, "absent") == 0 && oob->rank + 1 == oob->size) {
        sleep(6);
        return UCS_ERR_CANCELED;
    }
    if (strcmp(action, "die") == 0 && oob->rank == 1) kill(getpid(), SIGKILL);
    return check_round(oob, 1, 100);
}

static int say(const ucg_oob_t* oob, ucs_status_t status) {
    printf("END rank %u of %u: %s\n", oob->rank, oob->size, ucs_status_string(status));
    return fflush(stdout);
}

static int run_over_env(const char* mode) {
    int times = strcmp(mode, "again") == 0 ? 2 : 1;

    for (; times != 0; --times) {
        ucg_oob_t* oob = NULL;
        ucs_status_t status = ucg_oob_create_env(&oob);
        if (status != UCS_OK) {
            printf("NONE: %s\n", ucs_status_string(status));
            return 2;
        }
        say(oob, act(oob, mode));
        ucg_oob_destroy(oob);
        if (strcmp(mode, "absent") != 0) continue;
        /* An exchange that has not ended would be confused with the new one. */
        status = ucg_oob_create_env(&oob);
        printf("THEN %s\n", ucs_status_string(status));
        if (status == UCS_OK) ucg_oob_destroy(oob);
    }
    return 0;
}

#ifdef OVER_MPI
/* The memory of an abandoned round belongs to the caller, even if messages arrive later. */
static ucs_status_t give_up(ucg_oob_mpi_t* over) {
    const ucg_oob_t* oob = &over->oob;
    const size_t bytes = 1000;
    unsigned char* all = malloc(oob->size * bytes);
    unsigned char* own = malloc(bytes);
    void *request = NULL, *second = NULL;
    ucs_status_t status = check_round(oob, 0, 100);
    size_t index, wrong = 0;

    if (all == NULL || own == NULL) exit(3);
    memset(own, 1, bytes);
    memset(all, 7, oob->size * bytes);
    if (status == UCS_OK && oob->rank != 0) {
        MPI_Barrier(MPI_COMM_WORLD); /* rank 0 has given up */
        status = exchange(oob, own, all, bytes);
        for (index = 0; index < oob->size * bytes; ++index)
            wrong += all[index] != 1;
    } else if (status == UCS_OK) {
        if (oob->allgather(oob->arg, own, all, bytes, &request) != UCS_OK) exit(5);
        if (oob->allgather(oob->arg, own, all, bytes, &second) != UCS_ERR_BUSY) exit(6);
        if (oob->test(oob->arg, request) != UCS_INPROGRESS) exit(7);
        oob->release(oob->arg, request);
        memset(own, 7, bytes);
        if (oob->allgather(oob->arg, own, all, bytes, &request) != UCS_ERR_CANCELED) exit(8);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* its messages have arrived */
    if (oob->rank == 0)
        for (index = 0; index < oob->size * bytes; ++index)
            wrong += all[index] != 7;
    if (wrong != 0) {
        printf("WRONG rank %u: %zu bytes\n", oob->rank, wrong);
        exit(4);
    }
    free(own);
    free(all);
    return status;
}

static int run_over_mpi(const char* mode) {
    ucg_oob_mpi_t* oob = NULL;
    void* request = NULL;

    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return 2;
    if (ucg_oob_mpi_create(MPI_COMM_WORLD, &oob) != UCS_OK) return 2;
    if (oob->oob.allgather(oob->oob.arg, NULL, NULL, (size_t)INT_MAX + 1, &request) !=
        UCS_ERR_EXCEEDS_LIMIT)
        return 5;
    say(&oob->oob, strcmp(mode, "giveup") == 0 ? give_up(oob) : act(&oob->oob, mode));
    if (strcmp(mode, "again") == 0)
        run_over_env("rounds"); /* together with MPI, which may use PMIx itself */
    ucg_oob_mpi_destroy(oob);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 2;
}
#endif

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "env") == 0) return run_over_env(argv[2]);
#ifdef OVER_MPI
    if (argc == 3 && strcmp(argv[1], "mpi") == 0) return run_over_mpi(argv[2]);
#endif
    fprintf(stderr, "usage: %s env|mpi rounds|lookups|again|absent|die|giveup\n", argv[0]);
    return 2;
}
