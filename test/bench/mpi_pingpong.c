/*
 * Half round trips between ranks 0 and 1 by message size: percentiles over single round trips, as
 * JSON. Each rank pins itself to its entry of HAWSER_BENCH_CPUS ("0,1"). The last byte is checked
 * once per size. mpi_pingpong SECONDS_PER_SIZE SIZE...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/bind.h"
#include "test/bench/by_value.h"

enum { most_samples = 200000, fewest_samples = 20, tag = 1 };

static int rank;

/* Returns the time of half a round trip in microseconds. */
static double round_trip(unsigned char* data, int size) {
    const double start = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(data, size, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        MPI_Recv(data, size, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, size, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, size, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) * 1e6 / 2;
}

/* Number of samples that fit into the time; rank 0 decides for both ranks. */
static int samples_for(unsigned char* data, int size, double seconds) {
    double time = 0;
    int samples;
    for (int i = 0; i < fewest_samples; ++i)
        time = round_trip(data, size);
    samples = (int)(seconds * 1e6 / (2 * time));
    if (samples > most_samples) samples = most_samples;
    if (samples < fewest_samples) samples = fewest_samples;
    MPI_Bcast(&samples, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return samples;
}

static void measure(int size, double seconds, double* times, const char* separator) {
    unsigned char* data = aligned_alloc(4096, ((size_t)size + 4096) / 4096 * 4096);
    memset(data, rank == 0 ? 0x5A : 0, (size_t)size + 1);
    const int samples = samples_for(data, size, seconds);
    for (int i = 0; i < samples / 10; ++i)
        (void)round_trip(data, size);
    for (int i = 0; i < samples; ++i)
        times[i] = round_trip(data, size);
    if (size > 0 && data[size - 1] != 0x5A) MPI_Abort(MPI_COMM_WORLD, 1);
    free(data);
    if (rank != 0) return;
    qsort(times, (size_t)samples, sizeof(*times), by_value);
    printf("%s\"%d\": {\"p50\": %.4f, \"p90\": %.4f, \"p99\": %.4f}", separator, size,
           times[samples / 2], times[samples * 9 / 10], times[samples * 99 / 100]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* const cpus = getenv("HAWSER_BENCH_CPUS");
    if (cpus != NULL) (void)bind_to_entry(cpus, (unsigned long)rank);
    double* times = malloc(most_samples * sizeof(*times));
    if (rank == 0) printf("{");
    for (int i = 2; i < argc; ++i)
        measure((int)strtol(argv[i], NULL, 10), strtod(argv[1], NULL), times, i == 2 ? "" : ", ");
    if (rank == 0) printf("}\n");
    free(times);
    MPI_Finalize();
    return 0;
}
