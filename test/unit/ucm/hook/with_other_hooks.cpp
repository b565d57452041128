// OpenUCX's libucm in the same process, with its own handler. Both libraries change the code of the
// C library. The second one must not keep the first one from receiving events.
//
// with_other_hooks before|after PATH
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/unit/ucm/hook/watch.hpp"

// Functions that OpenUCX's libucm expects from its libucs.
extern "C" __attribute__((visibility("default"))) void ucs_load_modules() {}
extern "C" __attribute__((visibility("default"))) int ucs_sys_is_dynamic_lib() {
    return 1;
}

namespace {

constexpr int skipped = 77;
constexpr std::size_t large = std::size_t{64} << 20;

std::atomic<int> events_of_other{0};
bool passed = true;

void count_event(ucm_event_type_t, ucm_event_t*, void*) {
    ++events_of_other;
}

void check(bool good, const char* text) {
    if (good) return;
    std::printf("failed: %s\n", text);
    passed = false;
}

bool install_other(const char* path) {
    void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) {
        std::printf("skipped: %s\n", dlerror());
        return false;
    }
    using setter = ucs_status_t (*)(int, int, ucm_event_callback_t, void*);
    auto set = reinterpret_cast<setter>(dlsym(library, "ucm_set_event_handler"));
    check(set != nullptr && set != ucm_set_event_handler, "another libucm");
    check(set(UCM_EVENT_VM_UNMAPPED, 0, count_event, nullptr) == UCS_OK, "its handler");
    return true;
}

// Checks that both libraries receive the event of `change`.
template<class Change>
void check_both(test::watch& ours, const char* text, void* memory, std::size_t size,
                std::size_t expected, Change&& change) {
    ours.observe(memory, size);
    events_of_other = 0;
    change();
    const std::size_t bytes = ours.unmapped_bytes();
    const int other = events_of_other;
    std::printf("%s: %zu bytes, other library %d\n", text, bytes, other);
    check(bytes >= expected, text);
    check(other > 0, text);
}

void* map(std::size_t size) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void check_all(test::watch& ours) {
    constexpr std::size_t size = 64 << 10;
    void* memory = map(size);
    check_both(ours, "munmap", memory, size, size, [&] { munmap(memory, size); });
    void* fixed = map(size);
    check_both(ours, "fixed mapping", fixed, size, size, [&] {
        mmap(fixed, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    });
    check_both(ours, "madvise", fixed, size, size, [&] { madvise(fixed, size, MADV_DONTNEED); });
    void* moved = nullptr;
    check_both(ours, "mremap", fixed, size, size,
               [&] { moved = mremap(fixed, size, 4 * size, MREMAP_MAYMOVE); });
    munmap(moved, 4 * size);
    const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    if (id >= 0) {
        void* segment = shmat(id, nullptr, 0);
        shmctl(id, IPC_RMID, nullptr);
        check_both(ours, "shmdt", segment, size, size, [&] { shmdt(segment); });
    }
    void* block = std::malloc(large);
    check_both(ours, "free", block, large, large, [&] { std::free(block); });
    char* heap = static_cast<char*>(sbrk(size));
    check_both(ours, "sbrk", heap, size, size, [&] { sbrk(-static_cast<std::intptr_t>(size)); });
    check(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK, "ucm_test_events");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const bool other_first = std::strcmp(arguments[1], "before") == 0;
    if (other_first && !install_other(arguments[2])) return skipped;
    test::watch ours;
    check(ours.status() == UCS_OK, "our handler");
    if (!other_first && !install_other(arguments[2])) return skipped;
    check_all(ours);
    return passed ? 0 : 1;
}
