/*
 * Open MPI and the memory events of libucm. With its own memory hooks (the default) Open MPI
 * declares that it reports unmapped memory, asks whether that works, and then reports everything:
 * handlers are told of what any part of the process unmaps. Without them libucm notices it by
 * itself, from the moment on when a handler needs that. Messages go on meanwhile.
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <ucm/api/ucm.h>
#include <unistd.h>

#include "check.h"

/* What handlers saw of one range; told by whichever thread unmaps. */
typedef struct {
    const char* begin;
    size_t size;
    atomic_size_t told; /* bytes of the range */
} watched_range;

static void on_unmapped(ucm_event_type_t type, ucm_event_t* event, void* arg) {
    watched_range* range = arg;
    const char* begin = event->vm_unmapped.address;
    const char* end = begin + event->vm_unmapped.size;
    if (type != UCM_EVENT_VM_UNMAPPED) return;
    if (begin < range->begin) begin = range->begin;
    if (end > range->begin + range->size) end = range->begin + range->size;
    if (begin < end) range->told += (size_t)(end - begin);
}

static bool open_mpi_has_hooks(void) {
    const char* chosen = getenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks");
    return chosen == NULL || strcmp(chosen, "0") != 0;
}

/* libucm must be the one that lies beside the libucp that serves the run. */
static void check_library(void) {
    const char* libucp = getenv("HAWSER_EXPECT_LIBUCP");
    char ours[PATH_MAX], *name;
    Dl_info info;
    void* function = dlsym(RTLD_DEFAULT, "ucm_test_external_events");
    CHECK(
        function != NULL && dladdr(function, &info) != 0 && realpath(info.dli_fname, ours) != NULL,
        "libucm is not there");
    if (libucp == NULL) return;
    name = strrchr(ours, '/');
    CHECK(strncmp(ours, libucp, (size_t)(name - ours) + 1) == 0, "%s is another libucm", ours);
}

static void exchange(size_t bytes) {
    const int peer = rank ^ 1;
    char* out = malloc(bytes);
    char* in = malloc(bytes);
    CHECK(out != NULL && in != NULL, "no memory");
    if (peer < ranks) {
        pattern_fill(out, bytes, (uint64_t)rank);
        MPI_OK(MPI_Sendrecv(out, (int)bytes, MPI_CHAR, peer, 1, in, (int)bytes, MPI_CHAR, peer, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_differs(in, bytes, (uint64_t)peer) == bytes, "other data came");
    }
    free(in);
    free(out);
}

static void* map_pages(size_t bytes) {
    void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED, "no memory");
    return pages;
}

/* The handler must be told of all that goes away. */
static void check_told(watched_range* range) {
    const size_t bytes = range->size;
    range->told = 0;
    CHECK(madvise((void*)range->begin, bytes, MADV_DONTNEED) == 0, "madvise failed");
    CHECK(range->told == bytes, "%zu bytes lost their contents, %zu were told", bytes, range->told);
    range->told = 0;
    CHECK(munmap((void*)range->begin, bytes) == 0, "munmap failed");
    CHECK(range->told == bytes, "%zu bytes were unmapped, %zu told", bytes, range->told);

    /* Large enough for pages of its own, which are unmapped when it is freed. */
    enum { large = 64 << 20 };
    char* block = malloc(large);
    CHECK(block != NULL, "no memory");
    range->begin = block;
    range->size = large;
    range->told = 0;
    free(block);
    CHECK(range->told == large, "malloc gave %d bytes back, %zu were told", large, range->told);
}

static void check_with_hooks(size_t bytes) {
    watched_range range = {map_pages(bytes), bytes, 0};
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "declared, but not reported");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "declared, but not reported");
    CHECK(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, on_unmapped, &range) == UCS_OK,
          "a handler is refused although the events are declared");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "a handler changes the answer");
    for (size_t size = 1; size <= (size_t)4 << 20; size *= 8)
        exchange(size);
    check_told(&range);

    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_unmapped, &range);
    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(munmap((void*)range.begin, bytes) == 0, "munmap failed");
    CHECK(range.told == 0, "a handler ran after it was unset");
}

static void check_without_hooks(size_t bytes) {
    watched_range range = {map_pages(bytes), bytes, 0};
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "no source has declared it");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "no handler waits for it");
    const int whatever_comes = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    CHECK(ucm_set_event_handler(whatever_comes, 0, on_unmapped, &range) == UCS_OK, "refused");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "no function was replaced for it");
    for (size_t size = 1; size <= (size_t)4 << 20; size *= 8)
        exchange(size);
    CHECK(munmap((void*)range.begin, bytes) == 0, "munmap failed");
    CHECK(range.told == 0, "munmap was intercepted");
    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(ucm_munmap((void*)range.begin, bytes) == 0, "ucm_munmap failed");
    CHECK(range.told == bytes, "%zu bytes were unmapped, %zu told", bytes, range.told);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_unmapped, &range);

    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, on_unmapped, &range) == UCS_OK,
          "functions cannot be replaced");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "it can be missed");
    for (size_t size = 1; size <= (size_t)4 << 20; size *= 8)
        exchange(size);
    check_told(&range);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_unmapped, &range);
}

int main(int argc, char** argv) {
    test_begin(&argc, &argv, "memory_hooks", MPI_THREAD_SINGLE);
    const size_t bytes = 5 * (size_t)sysconf(_SC_PAGESIZE);
    check_library();
    if (open_mpi_has_hooks()) {
        check_with_hooks(bytes);
    } else {
        check_without_hooks(bytes);
    }
    return test_end();
}
