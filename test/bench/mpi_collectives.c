/* Times of collectives of an MPI, by the loop that ucg_perf has: data are written anew, barrier,
 * call; the time of an iteration is that of its slowest rank. Prints CSV with the columns that
 * ucg_perf -f and this have in common.
 *
 *   mpi_collectives COLLECTIVES SECONDS SIZE...      names by comma; bytes, of a block where each
 * rank has one for each other
 *
 * HAWSER_BENCH_CPUS, a list of processors by comma, binds rank r to the r-th in turn. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { fewest = 5, few = 32, most = 100000 };

static int rank, ranks;
static float *from, *into;

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void bind_to_processor(void) {
    const char* list = getenv("HAWSER_BENCH_CPUS");
    int cpus[64], count = 0;
    cpu_set_t chosen;
    while (list != NULL && *list != '\0' && count < 64) {
        char* end;
        cpus[count++] = (int)strtol(list, &end, 10);
        list = *end == ',' ? end + 1 : end;
    }
    if (count == 0) return;
    CPU_ZERO(&chosen);
    CPU_SET((size_t)cpus[rank % count], &chosen);
    if (sched_setaffinity(0, sizeof chosen, &chosen) != 0) {
        perror("sched_setaffinity");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* How many blocks a rank gives and gets. */
static size_t blocks_given(const char* name) {
    return strcmp(name, "alltoall") == 0 || strcmp(name, "reduce_scatter_block") == 0
               ? (size_t)ranks
               : 1;
}

static size_t blocks_got(const char* name) {
    return strcmp(name, "alltoall") == 0 || strcmp(name, "allgather") == 0 ? (size_t)ranks : 1;
}

static void call(const char* name, int count) {
    if (strcmp(name, "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(name, "bcast") == 0)
        MPI_Bcast(from, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (strcmp(name, "reduce") == 0)
        MPI_Reduce(from, into, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (strcmp(name, "allreduce") == 0)
        MPI_Allreduce(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "allgather") == 0)
        MPI_Allgather(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (strcmp(name, "alltoall") == 0)
        MPI_Alltoall(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (strcmp(name, "reduce_scatter_block") == 0)
        MPI_Reduce_scatter_block(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else {
        fprintf(stderr, "mpi_collectives: there is no collective \"%s\" here\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* Seconds of one call. */
static double iterate(const char* name, int count, size_t given, long turn) {
    /* Only the root of a broadcast gives anything. */
    if (strcmp(name, "bcast") != 0 || rank == 0) {
        const float value = (float)((turn + rank) % 64);
        for (size_t i = 0; i < given; ++i)
            from[i] = value;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    call(name, count);
    return MPI_Wtime() - begin;
}

/* As many as fit the time, by how long some take. */
static int iterations(const char* name, int count, size_t given, double seconds) {
    for (int i = 0; i < 2; ++i)
        iterate(name, count, given, i);
    for (long tried = 2;; tried *= 4) {
        const double begin = MPI_Wtime();
        double took, slowest, fit;
        for (long i = 0; i < tried; ++i)
            iterate(name, count, given, i);
        took = MPI_Wtime() - begin;
        MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (slowest < (tried < few ? seconds : 0.1 * seconds) && tried < most) continue;
        fit = (double)tried * seconds / (slowest > 1e-9 ? slowest : 1e-9);
        return fit < fewest ? fewest : fit > most ? most : (int)fit;
    }
}

/* The smallest that is not below so many percent of all. */
static double percentile(const double* ordered, int count, int percent) {
    const int place = (int)(((int64_t)count * percent + 99) / 100);
    return ordered[place > 0 ? place - 1 : 0] * 1e6;
}

static void* pages(size_t bytes) {
    void* made = NULL;
    if (posix_memalign(&made, 4096, bytes + 4096) != 0) {
        fprintf(stderr, "mpi_collectives: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(made, 0, bytes + 4096);
    return made;
}

static void measure(const char* name, size_t bytes, double seconds) {
    const int count = (int)(bytes / sizeof(float));
    const size_t given = (size_t)count * blocks_given(name);
    double *mine, *slowest;
    int n;
    from = pages(given * sizeof(float));
    into = pages((size_t)count * blocks_got(name) * sizeof(float));
    n = iterations(name, count, given, seconds);
    mine = malloc((size_t)n * sizeof *mine);
    slowest = malloc((size_t)n * sizeof *slowest);
    if (mine == NULL || slowest == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < n; ++i)
        mine[i] = iterate(name, count, given, i);
    MPI_Reduce(mine, slowest, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(slowest, (size_t)n, sizeof *slowest, by_value);
        printf("%s,%zu,%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f\n", name, bytes, ranks, n, slowest[0] * 1e6,
               percentile(slowest, n, 50), percentile(slowest, n, 95), percentile(slowest, n, 99),
               slowest[n - 1] * 1e6);
        fflush(stdout);
    }
    free(mine);
    free(slowest);
    free(from);
    free(into);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4 || atof(argv[2]) <= 0) {
        if (rank == 0) fprintf(stderr, "usage: mpi_collectives COLLECTIVES SECONDS SIZE...\n");
        MPI_Finalize();
        return 2;
    }
    bind_to_processor();
    if (rank == 0)
        printf("collective,bytes,ranks,iterations,min_us,median_us,p95_us,p99_us,max_us\n");
    for (char* name = strtok(argv[1], ","); name != NULL; name = strtok(NULL, ",")) {
        if (strcmp(name, "barrier") == 0) {
            measure(name, 0, atof(argv[2]));
            continue;
        }
        for (int i = 3; i < argc; ++i) {
            const size_t bytes = strtoull(argv[i], NULL, 10);
            if (bytes > ((size_t)1 << 32)) MPI_Abort(MPI_COMM_WORLD, 2);
            measure(name, bytes, atof(argv[2]));
        }
    }
    MPI_Finalize();
    return 0;
}
