/*
 * The counterpart of moe_dispatch.c for a program that has only MPI. It sends one copy of a token's
 * row for each chosen expert by MPI_Alltoallv. Counts are known, as with the handle of a notify.
 * The options are those of moe_bench.h.
 *
 * Rows of the output:
 *   copies           the time includes packing the rows. Every program must pack, because a token
 *                    goes to several experts and comes from one row.
 *   copies in place  rows that are packed already, for comparison
 *
 * Received rows are ordered by source, then by expert, and stay so. A program would have to collect
 * the rows of an expert, which is not measured.
 */
#include <limits.h>
#include <mpi.h>

#include "test/bench/moe_bench.h"

static int *send_counts, *send_places, *receive_counts, *receive_places;

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static void largest(double* values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void exchange(void) {
    MPI_Alltoallv(copies.from, send_counts, send_places, MPI_UINT16_T, copies.into, receive_counts,
                  receive_places, MPI_UINT16_T, MPI_COMM_WORLD);
}

/* Converts counts of rows into counts and displacements of elements. */
static void place(const uint64_t* rows, int** counts, int** places) {
    uint64_t offset = 0;
    *counts = moe_memory(bench.ranks * sizeof **counts);
    *places = moe_memory(bench.ranks * sizeof **places);
    for (uint32_t i = 0; i < bench.ranks; ++i) {
        const uint64_t count = rows[i] * bench.hidden;
        if (offset + count > INT_MAX) {
            fprintf(stderr, "rank %u: more elements than MPI counts\n", bench.rank);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        (*counts)[i] = (int)count;
        (*places)[i] = (int)offset;
        offset += count;
    }
}

int main(int argc, char** argv) {
    int rank, ranks;
    moe_read_options(&bench, argc, argv);
    moe_bind(&bench, getenv("OMPI_COMM_WORLD_RANK"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench.rank = (uint32_t)rank;
    bench.ranks = (uint32_t)ranks;
    bench.barrier = barrier;
    bench.largest = largest;
    moe_begin(&bench);
    moe_copies_make(&bench, &copies);
    place(copies.send_counts, &send_counts, &send_places);
    place(copies.receive_counts, &receive_counts, &receive_places);
    moe_print_header(&bench);
    moe_measure_copies();
    moe_copies_free(&copies);
    moe_end(&bench);
    free(send_counts);
    free(send_places);
    free(receive_counts);
    free(receive_places);
    MPI_Finalize();
    return 0;
}
