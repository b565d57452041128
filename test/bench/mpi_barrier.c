/* Measures one MPI_Barrier over all ranks. Prints percentiles of the slowest rank's time over
 * blocks of 20, as JSON. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/bench/by_value.h"

enum { blocks = 50, in_block = 20 };

int main(int argc, char** argv) {
    double own[blocks], slowest[blocks];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 50; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int b = 0; b < blocks; ++b) {
        const double start = MPI_Wtime();
        for (int i = 0; i < in_block; ++i)
            MPI_Barrier(MPI_COMM_WORLD);
        own[b] = (MPI_Wtime() - start) * 1e6 / in_block;
    }
    MPI_Reduce(own, slowest, blocks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(slowest, blocks, sizeof(*slowest), by_value);
        printf("{\"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f}\n", slowest[blocks / 2],
               slowest[blocks * 9 / 10], slowest[blocks * 99 / 100]);
    }
    MPI_Finalize();
    return 0;
}
