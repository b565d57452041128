/* A second set of processes joins the job (MPI_Comm_spawn). Addresses of a foreign job are
 * connected late, messages and collectives cross between both jobs, and the jobs disconnect. */
#include "check.h"

enum { children = 2, size = 100000 };

static void exchange(MPI_Comm inter, int is_child) {
    int intercomm_size, me;
    unsigned char *out = buffer_new(size), *in = buffer_new(size);
    MPI_OK(MPI_Comm_remote_size(inter, &intercomm_size));
    MPI_OK(MPI_Comm_rank(inter, &me));
    for (int peer = 0; peer < intercomm_size; ++peer) {
        pattern_fill(out, size, (uint64_t)(is_child * 100 + me));
        MPI_OK(MPI_Sendrecv(out, size, MPI_BYTE, peer, 1, in, size, MPI_BYTE, peer, 1, inter,
                            MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, size, (uint64_t)((1 - is_child) * 100 + peer));
    }
    buffer_free(out);
    buffer_free(in);
}

static void merged_sum(MPI_Comm inter, int high) {
    MPI_Comm all;
    int n, one = 1, sum = 0;
    MPI_OK(MPI_Intercomm_merge(inter, high, &all));
    MPI_OK(MPI_Comm_size(all, &n));
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == n, "sum %d on %d ranks", sum, n);
    MPI_OK(MPI_Comm_free(&all));
}

int main(int argc, char** argv) {
    MPI_Comm parent, inter;
    test_begin(&argc, &argv, "spawn", MPI_THREAD_SINGLE);
    MPI_OK(MPI_Comm_get_parent(&parent));
    if (parent == MPI_COMM_NULL) {
        MPI_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                              &inter, MPI_ERRCODES_IGNORE));
    } else {
        inter = parent;
    }
    exchange(inter, parent != MPI_COMM_NULL);
    merged_sum(inter, parent != MPI_COMM_NULL);
    MPI_OK(MPI_Comm_disconnect(&inter));
    return test_end();
}
