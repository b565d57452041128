/*
 * Many communicators under collectives that another library takes, in a process that may open few
 * files. A communicator needs no descriptors and no address space until it runs a collective that
 * the library serves, and no descriptors afterwards. The program can always open files of its own.
 *
 * HAWSER_MPI_USE=none: no communicator runs a collective. some: one runs each kind first. all:
 * every one does. refused: rank 1 may open so few files that no group can be made. The runner
 * compares the number of groups with the statistics.
 */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "persistent.h"

enum { most_files = 400 };

static void limit_files(rlim_t files) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "errno %d", errno);
    limit.rlim_cur = files;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "errno %d", errno);
}

static void open_a_file(void) {
    FILE* const file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL, "fopen: errno %d", errno);
    fclose(file);
}

/* The lowest free descriptor. It rises if a library keeps descriptors. */
static int next_descriptor(void) {
    const int next = dup(STDERR_FILENO);
    CHECK(next >= 0, "dup: errno %d", errno);
    close(next);
    return next;
}

static size_t address_space(void) {
    unsigned long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1, "errno %d", errno);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void sum_blocking(MPI_Comm comm, int members) {
    int one = 1, sum = 0;
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == members, "%d", sum);
}

static void sum_nonblocking(MPI_Comm comm, int members) {
    int one = 1, sum = 0, again = 0;
    MPI_Request both[2];
    MPI_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &both[0]));
    MPI_OK(MPI_Iallreduce(&one, &again, 1, MPI_INT, MPI_SUM, comm, &both[1]));
    MPI_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    CHECK(sum == members && again == members, "%d %d", sum, again);
}

static void sum_persistent(MPI_Comm comm, int members) {
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_OK(PERSISTENT(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (int round = 0; round < 2; ++round) {
        sum = 0;
        MPI_OK(MPI_Start(&request));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == members, "%d", sum);
    }
    MPI_OK(MPI_Request_free(&request));
}

static void add_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
}

/* The library does not serve user-defined operators, so no group is needed for them. */
static void sum_own_operator(MPI_Comm comm, int members) {
    int one = 1, sum = 0;
    MPI_Op own;
    MPI_OK(MPI_Op_create(add_ints, 1, &own));
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, own, comm));
    CHECK(sum == members, "%d", sum);
    MPI_OK(MPI_Op_free(&own));
}

typedef void (*collective)(MPI_Comm comm, int members);

/* Each kind of collective first on a communicator of its own, then all kinds. Returns the number
 * of communicators that have a group afterwards. */
static int in_every_order(void) {
    const collective kinds[] = {sum_blocking, sum_nonblocking, sum_persistent, sum_own_operator};
    enum { count = sizeof(kinds) / sizeof(kinds[0]) };
    for (int first = 0; first < count; ++first) {
        MPI_Comm copy;
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        for (int i = 0; i < 2 * count; ++i)
            kinds[(first + i) % count](copy, ranks);
        MPI_OK(MPI_Comm_free(&copy));
    }
    return count;
}

/* Halves of the ranks make their groups concurrently, between groups of all ranks. */
static int in_parts(void) {
    MPI_Comm half, copy;
    int members = 0;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    MPI_OK(MPI_Comm_size(half, &members));
    sum_nonblocking(half, members);
    if (rank % 2 == 0) sum_blocking(half, members);
    sum_blocking(copy, ranks);
    if (rank % 2 == 1) sum_persistent(half, members);
    sum_nonblocking(copy, ranks);
    sum_nonblocking(half, members);
    MPI_OK(MPI_Comm_free(&half));
    MPI_OK(MPI_Comm_free(&copy));
    return 1 + ((ranks + 1) / 2 > 1) + (ranks / 2 > 1);
}

static void make_many(MPI_Comm* all, int count, size_t most_bytes) {
    const int descriptor = next_descriptor();
    const size_t before = address_space();
    for (int i = 0; i < count; ++i) {
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &all[i]));
        open_a_file();
    }
    CHECK(next_descriptor() == descriptor, "%d descriptors are gone",
          next_descriptor() - descriptor);
    CHECK(address_space() - before < most_bytes, "%zu bytes", address_space() - before);
}

static void use_all(const MPI_Comm* all, int count) {
    const int descriptor = next_descriptor();
    for (int i = 0; i < count; ++i) {
        sum_blocking(all[i], ranks);
        open_a_file();
    }
    CHECK(next_descriptor() <= descriptor + 16, "%d descriptors are gone",
          next_descriptor() - descriptor);
    for (int i = 0; i < count; ++i)
        sum_nonblocking(all[count - 1 - i], ranks);
}

int main(int argc, char** argv) {
    const char* const use = getenv("HAWSER_MPI_USE") != NULL ? getenv("HAWSER_MPI_USE") : "all";
    const int unused = strcmp(use, "none") == 0;
    /* More communicators than files; those with collectives take more time. */
    const int count = (int)env_number("HAWSER_MPI_COMMUNICATORS", unused ? 2000 : most_files + 50);
    MPI_Comm* const all = malloc((size_t)count * sizeof(*all));
    int groups = 1; /* for MPI_COMM_WORLD */
    limit_files(most_files);
    test_begin(&argc, &argv, "taken_many", MPI_THREAD_SINGLE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(use, "refused") == 0 && rank == 1)
        limit_files((rlim_t)next_descriptor() + 8); /* the half that is reserved for the program */
    if (strcmp(use, "some") == 0) groups += in_every_order() + in_parts();
    make_many(all, count, (size_t)count * (256 << 10));
    if (strcmp(use, "all") == 0 || strcmp(use, "refused") == 0) use_all(all, count);
    if (strcmp(use, "all") == 0) groups += count;
    for (int i = 0; i < count; ++i)
        MPI_OK(MPI_Comm_free(&all[i]));
    open_a_file();
    if (strcmp(use, "refused") != 0 && rank == 0) printf("%d groups expected\n", groups);
    free(all);
    return test_end();
}
