/* A token passes all ranks, then every rank prints the library that served it. The runner and
 * contrib/quickstart show these lines as proof that an unmodified MPI ran on our libucp. */
#include <unistd.h>

#include "check.h"

static void pass_token(void) {
    enum { rounds = 100 };
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (long round = 0; round < rounds; ++round) {
        long token = round * ranks;
        if (rank == 0) MPI_OK(MPI_Send(&token, 1, MPI_LONG, next, 1, MPI_COMM_WORLD));
        MPI_OK(MPI_Recv(&token, 1, MPI_LONG, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        const long want = round * ranks + (rank == 0 ? ranks - 1 : rank - 1);
        CHECK(token == want, "the token is %ld, not %ld", token, want);
        ++token;
        if (rank != 0) MPI_OK(MPI_Send(&token, 1, MPI_LONG, next, 1, MPI_COMM_WORLD));
    }
}

static void say_who_serves(void) {
    char libucp[PATH_MAX] = "no libucp", line[3 * PATH_MAX];
    provider_libucp(libucp);
    snprintf(line, sizeof(line), "rank %d pid %ld: %s calls %s", rank, (long)getpid(),
             provider_pml(), libucp);
    if (rank != 0) {
        MPI_OK(MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD));
        return;
    }
    puts(line);
    for (int peer = 1; peer < ranks; ++peer) {
        MPI_OK(MPI_Recv(line, (int)sizeof(line), MPI_CHAR, peer, 2, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        puts(line);
    }
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "served_by", MPI_THREAD_SINGLE);
    if (ranks > 1) pass_token();
    say_who_serves();
    return test_end();
}
