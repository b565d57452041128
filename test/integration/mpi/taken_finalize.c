/* Collectives in delete callbacks of MPI_COMM_SELF. MPI_Finalize calls these while programs may
 * still communicate, so a library that takes collectives must serve or count them, too. */
#include "check.h"

static int calls;

static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_Comm copy;
    (void)comm, (void)key, (void)value, (void)extra;
    ++calls;
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == ranks, "%d", sum);
    MPI_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == ranks, "%d", sum);
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == ranks, "%d", sum);
    MPI_OK(MPI_Comm_free(&copy));
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int keys[2];
    test_begin(&argc, &argv, "taken_finalize", MPI_THREAD_SINGLE);
    for (int i = 0; i < 2; ++i) {
        MPI_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keys[i], NULL));
        MPI_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], NULL));
    }
    const int status = test_end();
    /* MPI has ended, so report by the exit status. */
    if (calls != 2) fprintf(stderr, "FAIL taken_finalize: %d callbacks\n", calls);
    return calls == 2 ? status : 1;
}
