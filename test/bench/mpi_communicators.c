/* Measures the time to duplicate and free a communicator without collectives, one with a single
 * allreduce, and one of 20 that exist at the same time with one allreduce each. Prints JSON:
 * percentiles in microseconds of blocks of 20, of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/bench/by_value.h"

enum { blocks = 50, in_block = 20, warm_up = 3 };

static void add_up(MPI_Comm comm) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void one_after_the_other(int with_allreduce) {
    for (int i = 0; i < in_block; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (with_allreduce) add_up(copy);
        MPI_Comm_free(&copy);
    }
}

static void unused(void) {
    one_after_the_other(0);
}

static void used_once(void) {
    one_after_the_other(1);
}

static void at_a_time(void) {
    MPI_Comm copies[in_block];
    for (int i = 0; i < in_block; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    for (int i = 0; i < in_block; ++i)
        add_up(copies[i]);
    for (int i = 0; i < in_block; ++i)
        MPI_Comm_free(&copies[i]);
}

static void measure(const char* name, void (*block)(void)) {
    double own[blocks], slowest[blocks];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < warm_up; ++i)
        block();
    for (int b = 0; b < blocks; ++b) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        block();
        own[b] = (MPI_Wtime() - start) * 1e6 / in_block;
    }
    MPI_Reduce(own, slowest, blocks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    qsort(slowest, blocks, sizeof(*slowest), by_value);
    printf("{\"%s\": {\"min\": %.2f, \"p50\": %.2f, \"p90\": %.2f}}\n", name, slowest[0],
           slowest[blocks / 2], slowest[blocks * 9 / 10]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    measure("unused", unused);
    measure("one allreduce", used_once);
    measure("20 at a time", at_a_time);
    MPI_Finalize();
    return 0;
}
