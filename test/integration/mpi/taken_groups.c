/* Creation of groups for collectives that another library takes: one rank cannot make its group,
 * one rank cannot attach it to the communicator, or a rank makes progress on the group before
 * the ranks have agreed. The program interposes some functions between libucg_mpi and libucg or
 * the MPI. Without libucg_mpi it is a plain MPI program. */
#include <ucg/api/ucg.h>

#include "check.h"

#define EXPORTED __attribute__((visibility("default")))

static int made, destroyed, refuses, hurries, keeps_nothing, has_siblings;

EXPORTED ucs_status_t ucg_group_create(ucg_context_h context, const ucg_group_params_t* params,
                                       ucg_group_h* group) {
    ucs_status_t (*create)(ucg_context_h, const ucg_group_params_t*, ucg_group_h*);
    void* const found = dlsym(RTLD_NEXT, "ucg_group_create");
    memcpy(&create, &found, sizeof(create));
    ++made;
    if (refuses) return UCS_ERR_NO_MEMORY;
    ucg_group_params_t wanted = *params;
    if (!has_siblings) wanted.siblings = 0; /* each communicator then makes its own group */
    const ucs_status_t status = create(context, &wanted, group);
    for (int i = 0; hurries && i < 1000; ++i) /* as another thread of the program might */
        (void)ucg_progress(context);
    return status;
}

EXPORTED void ucg_group_destroy(ucg_group_h group) {
    void (*destroy)(ucg_group_h);
    void* const found = dlsym(RTLD_NEXT, "ucg_group_destroy");
    memcpy(&destroy, &found, sizeof(destroy));
    destroyed += group != NULL;
    destroy(group);
}

EXPORTED int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    int (*set)(MPI_Comm, int, void*);
    void* const found = dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
    memcpy(&set, &found, sizeof(set));
    return keeps_nothing ? MPI_ERR_NO_MEM : set(comm, key, value);
}

/* Communicators that are freed at the end. A freed communicator leaves its group to the next
 * one. */
static MPI_Comm kept[64];
static int kept_count;

static void keep(MPI_Comm comm) {
    CHECK(kept_count < 64, "too many ranks");
    kept[kept_count++] = comm;
}

static void sums(MPI_Comm comm) {
    int own = rank + 1, sum = 0;
    MPI_Request request;
    MPI_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == ranks * (ranks + 1) / 2, "%d", sum);
    sum = 0;
    MPI_OK(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == ranks * (ranks + 1) / 2, "%d", sum);
}

/* One rank cannot make its group: then no rank has a group of that communicator, and all parts
 * are destroyed. */
static void refused(int which) {
    MPI_Comm copy;
    const int taken = made, gone = destroyed;
    refuses = rank == which;
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    sums(copy);
    refuses = 0;
    if (taken > 0 && ranks > 1) {
        CHECK(made == taken + 1, "%d groups", made - taken);
        CHECK(destroyed == gone + (rank != which), "%d groups are gone", destroyed - gone);
    }
    sums(copy);
    if (taken > 0 && ranks > 1) CHECK(made == taken + 1, "%d groups", made - taken);
    keep(copy);
    sums(MPI_COMM_WORLD);
}

/* One rank cannot attach its group: then no rank has one until it can. The attempts leave
 * nothing behind. */
static void not_kept(int which) {
    MPI_Comm copy;
    const int taken = made, gone = destroyed;
    keeps_nothing = rank == which;
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    sums(copy);
    CHECK(made - taken == destroyed - gone, "%d groups made, %d destroyed", made - taken,
          destroyed - gone);
    keeps_nothing = 0;
    sums(copy);
    if (taken > 0 && ranks > 1)
        CHECK(made - taken == destroyed - gone + 1, "%d groups made, %d destroyed", made - taken,
              destroyed - gone);
    keep(copy);
}

/* One rank's progress must not run before the ranks have agreed. */
static void hurried(int which) {
    MPI_Comm copy;
    const int gone = destroyed;
    hurries = rank == which;
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    sums(copy);
    hurries = 0;
    if (made > 0 && ranks > 1) CHECK(destroyed == gone, "the group is gone");
    keep(copy);
}

/* Communicators of the same ranks, one after the other, share a group; others do not. */
static void used_again(void) {
    const int before = made;
    for (int round = 0; round < 4; ++round) {
        MPI_Comm copy, reversed;
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        sums(copy);
        MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
        sums(reversed);
        MPI_OK(MPI_Comm_free(&copy));
        MPI_OK(MPI_Comm_free(&reversed));
    }
    if (before > 0 && ranks > 1) CHECK(made - before <= 2, "%d groups were made", made - before);
}

/* The last spare group of a rank differs from that of the others. */
static void not_the_same(void) {
    MPI_Comm first, second, third;
    const int before = made;
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
    sums(first);
    sums(second);
    MPI_OK(MPI_Comm_free(rank == 0 ? &first : &second));
    MPI_OK(MPI_Comm_free(rank == 0 ? &second : &first));
    const int now = made;
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &third));
    sums(third);
    if (before > 0 && ranks > 1) CHECK(made == now + 1, "%d groups were made", made - now);
    MPI_OK(MPI_Comm_free(&third));
}

/* Many communicators of the same ranks at a time: one group creation makes siblings. */
static void many_at_a_time(void) {
    enum { many = 40, rounds = 3 };
    MPI_Comm all[many];
    const int before = made;
    has_siblings = 1;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < many; ++i)
            MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &all[i]));
        for (int i = 0; i < many; ++i)
            sums(all[i]);
        /* Operations of several communicators are in flight, in another order on each rank. */
        MPI_Request requests[many];
        int own[many], sum[many];
        for (int i = 0; i < many; ++i) {
            const int which = (i + rank) % many;
            own[which] = rank + which;
            MPI_OK(MPI_Iallreduce(&own[which], &sum[which], 1, MPI_INT, MPI_SUM, all[which],
                                  &requests[which]));
        }
        MPI_OK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < many; ++i)
            CHECK(sum[i] == ranks * (ranks - 1) / 2 + ranks * i, "communicator %d: %d", i, sum[i]);
        for (int i = 0; i < many; ++i)
            MPI_OK(MPI_Comm_free(&all[i]));
    }
    has_siblings = 0;
    const int most = getenv("HAWSER_MPI_NODES") != NULL ? rounds * many : 7; /* 1, 2, 4, ... */
    if (before > 0 && ranks > 1) CHECK(made - before <= most, "%d groups were made", made - before);
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "taken_groups", MPI_THREAD_SINGLE);
    for (int which = 0; which < ranks; ++which) {
        hurried(which);
        refused(which);
        not_kept(which);
    }
    for (int i = 0; i < kept_count; ++i)
        MPI_OK(MPI_Comm_free(&kept[i]));
    used_again();
    not_the_same();
    many_at_a_time();
    return test_end();
}
