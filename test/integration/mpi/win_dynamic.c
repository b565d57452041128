/* Dynamic windows: regions of many sizes are attached and detached. Every operation must reach
 * the region of its address, while the peers still know keys and addresses of earlier regions. */
#include <sys/mman.h>

#include "window.h"

/* Open MPI 4.1 (fixed in 5.0, open-mpi/ompi#10580) leaves a hole in its list when a second
 * region is attached, and then unpacks keys from there: it gets one region at a time. OpenUCX
 * 1.13 ends with a segmentation fault on two regions of 24 and 32 bytes: over shared memory in
 * the first round, over tcp when the second one renews a region. */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
enum { slots = 1, rounds = 9 };
#else
enum { slots = 12, rounds = 3 };
#endif
enum { page = 4096 };

/* Size class of a slot. If there is only one slot, its size changes in each round; otherwise all
 * sizes occur. */
static int kind_of(int slot, int round) {
    return slots == 1 ? round : slot;
}

/* Sizes from a few bytes to several pages, none a multiple of a page. */
static size_t size_of(int kind) {
    return 24 + 8 * (size_t)kind + (kind % 3 == 2 ? 3 * page : 0);
}

static unsigned char* make(int kind) {
    void* made;
    if (kind % 4 != 3)
        made = malloc(size_of(kind));
    else
        made =
            mmap(NULL, size_of(kind), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(made != NULL && made != MAP_FAILED, "no memory");
    memset(made, 0, size_of(kind));
    return made;
}

static void unmake(unsigned char* made, int kind) {
    if (kind % 4 == 3)
        CHECK(munmap(made, size_of(kind)) == 0, "munmap failed");
    else
        free(made);
}

/* Every rank writes to, reads from and counts in each region of the next rank. */
static void use(MPI_Win win, const MPI_Aint addresses[], int round) {
    unsigned char *out = buffer_new(4 * page), *in = buffer_new(4 * page);
    int64_t one = 1, before = -1, swapped = -1, zero = 0;
    for (int slot = 0; slot < slots; ++slot) {
        const MPI_Aint displacement = addresses[next * slots + slot];
        const int length = (int)size_of(kind_of(slot, round)) - 16;
        pattern_fill(out, (size_t)length, (uint64_t)(100 * rank + slot + round));
        MPI_OK(MPI_Put(out, length, MPI_BYTE, next, displacement + 16, length, MPI_BYTE, win));
        MPI_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, next, displacement, MPI_SUM, win));
        MPI_OK(
            MPI_Compare_and_swap(&one, &zero, &swapped, MPI_INT64_T, next, displacement + 8, win));
        MPI_OK(MPI_Win_flush(next, win));
        CHECK(before == 0 && swapped == 0, "slot %d held %ld and %ld", slot, (long)before,
              (long)swapped);
        MPI_OK(MPI_Get(in, length, MPI_BYTE, next, displacement + 16, length, MPI_BYTE, win));
        MPI_OK(
            MPI_Accumulate(&one, 1, MPI_INT64_T, next, displacement, 1, MPI_INT64_T, MPI_SUM, win));
        MPI_OK(MPI_Win_flush(next, win));
        CHECK_PATTERN(in, (size_t)length, (uint64_t)(100 * rank + slot + round));
    }
    buffer_free(out);
    buffer_free(in);
}

static void check(unsigned char* const memory[], int round) {
    for (int slot = 0; slot < slots; ++slot) {
        int64_t numbers[2];
        memcpy(numbers, memory[slot], sizeof(numbers));
        CHECK(numbers[0] == 2 && numbers[1] == 1, "slot %d has %ld and %ld", slot, (long)numbers[0],
              (long)numbers[1]);
        CHECK_PATTERN(memory[slot] + 16, size_of(kind_of(slot, round)) - 16,
                      (uint64_t)(100 * previous + slot + round));
    }
}

/* Half of the slots get new memory in each round; the others keep theirs. */
static void renew(MPI_Win win, unsigned char* memory[], int round) {
    for (int slot = 0; slot < slots; ++slot) {
        if (round == 0 || slots == 1 || slot % 2 == round % 2) {
            if (round > 0) {
                MPI_OK(MPI_Win_detach(win, memory[slot]));
                unmake(memory[slot], kind_of(slot, round - 1));
            }
            memory[slot] = make(kind_of(slot, round));
            MPI_OK(MPI_Win_attach(win, memory[slot], (MPI_Aint)size_of(kind_of(slot, round))));
        }
        memset(memory[slot], 0, size_of(kind_of(slot, round)));
    }
}

int main(int argc, char** argv) {
    MPI_Win win;
    unsigned char* memory[slots];
    MPI_Aint own[slots], *all;
    window_begin(&argc, &argv, "win_dynamic");
    CHECK((all = malloc(sizeof(own) * (size_t)ranks)) != NULL, "no memory");
    MPI_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int round = 0; round < rounds; ++round) {
        renew(win, memory, round);
        for (int slot = 0; slot < slots; ++slot)
            MPI_OK(MPI_Get_address(memory[slot], &own[slot]));
        MPI_OK(MPI_Allgather(own, slots, MPI_AINT, all, slots, MPI_AINT, MPI_COMM_WORLD));
        MPI_OK(MPI_Win_lock_all(0, win));
        use(win, all, round);
        MPI_OK(MPI_Win_unlock_all(win));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        check(memory, round);
        MPI_OK(MPI_Win_unlock(rank, win));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int slot = 0; slot < slots; ++slot) {
        MPI_OK(MPI_Win_detach(win, memory[slot]));
        unmake(memory[slot], kind_of(slot, rounds - 1));
    }
    MPI_OK(MPI_Win_free(&win));
    free(all);
    return test_end();
}
