/* Time to duplicate and free a communicator that does no collective, and one that does a single
 * allreduce, as JSON: percentiles in microseconds of blocks of 20, the slowest rank's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 50, in_block = 20, warm_up = 50 };

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void duplicate_and_free(int with_allreduce) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (with_allreduce) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    }
    MPI_Comm_free(&copy);
}

static void measure(const char* name, int with_allreduce) {
    double mine[blocks], slowest[blocks];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < warm_up; ++i)
        duplicate_and_free(with_allreduce);
    for (int b = 0; b < blocks; ++b) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int i = 0; i < in_block; ++i)
            duplicate_and_free(with_allreduce);
        mine[b] = (MPI_Wtime() - start) * 1e6 / in_block;
    }
    MPI_Reduce(mine, slowest, blocks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    qsort(slowest, blocks, sizeof(*slowest), by_value);
    printf("{\"%s\": {\"min\": %.2f, \"p50\": %.2f, \"p90\": %.2f}}\n", name, slowest[0],
           slowest[blocks / 2], slowest[blocks * 9 / 10]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    measure("unused", 0);
    measure("one allreduce", 1);
    MPI_Finalize();
    return 0;
}
