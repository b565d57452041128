/* Tests a window in memory that the ranks of a node share: one rank stores, the others load, and
 * put reaches the same bytes. In Open MPI the component osc/sm makes these windows, and osc/ucx
 * makes all others. */
#include "check.h"

enum { words = 1000 };

static void loads_what_others_stored(MPI_Comm node) {
    uint64_t* own = NULL;
    MPI_Win window;
    int me = 0, size = 0;
    MPI_OK(MPI_Comm_rank(node, &me));
    MPI_OK(MPI_Comm_size(node, &size));
    MPI_OK(MPI_Win_allocate_shared(words * sizeof(*own), sizeof(*own), MPI_INFO_NULL, node, &own,
                                   &window));
    MPI_OK(MPI_Win_fence(0, window));
    for (size_t i = 0; i < words; ++i)
        own[i] = pattern_word((uint64_t)me, i);
    MPI_OK(MPI_Win_fence(0, window));
    for (int peer = 0; peer < size; ++peer) {
        MPI_Aint bytes = 0;
        int unit = 0;
        uint64_t* remote = NULL;
        MPI_OK(MPI_Win_shared_query(window, peer, &bytes, &unit, &remote));
        CHECK(unit == sizeof(*remote), "%d", unit);
        for (size_t i = 0; i < words; ++i)
            CHECK(remote[i] == pattern_word((uint64_t)peer, i), "word %zu of %d", i, peer);
    }
    MPI_OK(MPI_Win_fence(0, window));
    const uint64_t told = 1000 + (uint64_t)me;
    MPI_OK(MPI_Put(&told, 1, MPI_UINT64_T, (me + 1) % size, 0, 1, MPI_UINT64_T, window));
    MPI_OK(MPI_Win_fence(0, window));
    CHECK(own[0] == 1000 + (uint64_t)((me + size - 1) % size), "%lu", (unsigned long)own[0]);
    MPI_OK(MPI_Win_free(&window));
}

int main(int argc, char** argv) {
    MPI_Comm node;
    test_begin(&argc, &argv, "win_shared", MPI_THREAD_SINGLE);
    MPI_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    loads_what_others_stored(node);
    MPI_OK(MPI_Comm_free(&node));
    return test_end();
}
