/* Open MPI and the memory events of libucm. With its own memory hooks (the default) Open MPI
 * declares that it reports unmapped memory, and tests whether this works. Then it reports all
 * unmapped memory of the process, and libucm calls the handlers. Without these hooks libucm
 * installs its own, as soon as a handler needs them. Messages are sent meanwhile. */
#include <sys/mman.h>
#include <ucm/api/ucm.h>
#include <unistd.h>

#include "check.h"

/* The events of one range, reported by the thread that unmaps. */
typedef struct {
    const char* begin;
    size_t size;
    atomic_size_t reported; /* bytes of the range that were reported */
} watched_range;

static void on_unmapped(ucm_event_type_t type, ucm_event_t* event, void* arg) {
    watched_range* range = arg;
    const char* begin = event->vm_unmapped.address;
    const char* end = begin + event->vm_unmapped.size;
    if (type != UCM_EVENT_VM_UNMAPPED) return;
    if (begin < range->begin) begin = range->begin;
    if (end > range->begin + range->size) end = range->begin + range->size;
    if (begin < end) range->reported += (size_t)(end - begin);
}

static bool open_mpi_has_hooks(void) {
    const char* chosen = getenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks");
    return chosen == NULL || strcmp(chosen, "0") != 0;
}

/* libucm must be the one in the folder of the libucp that serves the run. */
static void check_library(void) {
    const char* libucp = getenv("HAWSER_EXPECT_LIBUCP");
    char own[PATH_MAX], *name;
    Dl_info info;
    void* function = dlsym(RTLD_DEFAULT, "ucm_test_external_events");
    CHECK(function != NULL && dladdr(function, &info) != 0 && realpath(info.dli_fname, own) != NULL,
          "libucm is not there");
    if (libucp == NULL) return;
    name = strrchr(own, '/');
    CHECK(strncmp(own, libucp, (size_t)(name - own) + 1) == 0, "%s is another libucm", own);
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

/* The handler must be called for all memory that is unmapped. */
static void check_events(watched_range* range) {
    const size_t bytes = range->size;
    range->reported = 0;
    CHECK(madvise((void*)range->begin, bytes, MADV_DONTNEED) == 0, "madvise failed");
    CHECK(range->reported == bytes, "%zu bytes lost their contents, %zu were reported", bytes,
          range->reported);
    range->reported = 0;
    CHECK(munmap((void*)range->begin, bytes) == 0, "munmap failed");
    CHECK(range->reported == bytes, "%zu bytes were unmapped, %zu reported", bytes,
          range->reported);

    /* Large enough for pages of its own, which are unmapped when it is freed. */
    enum { large = 64 << 20 };
    char* block = malloc(large);
    CHECK(block != NULL, "no memory");
    range->begin = block;
    range->size = large;
    range->reported = 0;
    free(block);
    CHECK(range->reported == large, "malloc gave %d bytes back, %zu were reported", large,
          range->reported);
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
    check_events(&range);

    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_unmapped, &range);
    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(munmap((void*)range.begin, bytes) == 0, "munmap failed");
    CHECK(range.reported == 0, "a handler ran after it was unset");
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
    CHECK(range.reported == 0, "munmap was intercepted");
    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(ucm_munmap((void*)range.begin, bytes) == 0, "ucm_munmap failed");
    CHECK(range.reported == bytes, "%zu bytes were unmapped, %zu reported", bytes, range.reported);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_unmapped, &range);

    range = (watched_range){map_pages(bytes), bytes, 0};
    CHECK(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, on_unmapped, &range) == UCS_OK,
          "functions cannot be replaced");
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "it can be missed");
    for (size_t size = 1; size <= (size_t)4 << 20; size *= 8)
        exchange(size);
    check_events(&range);
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
