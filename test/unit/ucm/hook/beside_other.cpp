// OpenUCX's libucm in the same process, with a handler of its own. Each of the two changes the code
// of the C library; whoever comes second must leave the first its events.
//
//     beside_other before|after PATH
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/unit/ucm/hook/watch.hpp"

// What OpenUCX's libucm expects of its libucs.
extern "C" __attribute__((visibility("default"))) void ucs_load_modules() {}
extern "C" __attribute__((visibility("default"))) int ucs_sys_is_dynamic_lib() {
    return 1;
}

namespace {

constexpr int skipped = 77;
constexpr std::size_t large = std::size_t{64} << 20;

std::atomic<int> told_by_other{0};
bool all_good = true;

void note_other(ucm_event_type_t, ucm_event_t*, void*) {
    ++told_by_other;
}

void check(bool good, const char* what) {
    if (good) return;
    std::printf("failed: %s\n", what);
    all_good = false;
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
    check(set(UCM_EVENT_VM_UNMAPPED, 0, note_other, nullptr) == UCS_OK, "its handler");
    return true;
}

// Both must be told what `change` does to the memory.
template<class Change>
void both_see(test::watch& ours, const char* what, void* memory, std::size_t size,
              std::size_t expected, Change&& change) {
    ours.look_at(memory, size);
    told_by_other = 0;
    change();
    const std::size_t told = ours.told();
    const int other = told_by_other;
    std::printf("%s: %zu bytes, other library %d\n", what, told, other);
    check(told >= expected, what);
    check(other > 0, what);
}

void* map(std::size_t size) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void check_all(test::watch& ours) {
    constexpr std::size_t size = 64 << 10;
    void* memory = map(size);
    both_see(ours, "munmap", memory, size, size, [&] { munmap(memory, size); });
    void* fixed = map(size);
    both_see(ours, "fixed mapping", fixed, size, size,
             [&] { mmap(fixed, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); });
    both_see(ours, "madvise", fixed, size, size, [&] { madvise(fixed, size, MADV_DONTNEED); });
    void* moved = nullptr;
    both_see(ours, "mremap", fixed, size, size,
             [&] { moved = mremap(fixed, size, 4 * size, MREMAP_MAYMOVE); });
    munmap(moved, 4 * size);
    const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    if (id >= 0) {
        void* segment = shmat(id, nullptr, 0);
        shmctl(id, IPC_RMID, nullptr);
        both_see(ours, "shmdt", segment, size, size, [&] { shmdt(segment); });
    }
    void* block = std::malloc(large);
    both_see(ours, "free", block, large, large, [&] { std::free(block); });
    char* heap = static_cast<char*>(sbrk(size));
    both_see(ours, "sbrk", heap, size, size, [&] { sbrk(-static_cast<std::intptr_t>(size)); });
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
    return all_good ? 0 : 1;
}
