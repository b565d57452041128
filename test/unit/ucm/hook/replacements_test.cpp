// Events that the replaced functions of the C library report.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "test/support/child.hpp"
#include "test/support/sanitizer.hpp"
#include "test/unit/ucm/hook/watch.hpp"

namespace {

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

void* map_pages(std::size_t count) {
    void* memory =
        mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    std::memset(memory, 1, count * page);
    return memory;
}

// Each case reads the events.
struct watching {
    watching() { REQUIRE(watch.status() == UCS_OK); }
    test::watch watch;
};

}  // namespace

TEST_CASE_METHOD(watching, "memory that the C library unmaps is reported") {
    void* memory = map_pages(4);

    SECTION("munmap") {
        watch.observe(memory, 4 * page);
        CHECK(munmap(memory, 3 * page) == 0);
        CHECK(watch.unmapped_bytes() == 3 * page);
        CHECK(munmap(static_cast<char*>(memory) + 3 * page, page) == 0);
    }
    SECTION("a mapping over it") {
        watch.observe(memory, 4 * page);
        CHECK(mmap(memory, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
              memory);
        CHECK(watch.unmapped_bytes() == page);
        CHECK(munmap(memory, 4 * page) == 0);
    }
    SECTION("mremap") {
        watch.observe(memory, 4 * page);
        void* moved = mremap(memory, 4 * page, 64 * page, MREMAP_MAYMOVE);
        REQUIRE(moved != MAP_FAILED);
        CHECK(watch.unmapped_bytes() == 4 * page);
        CHECK(*static_cast<char*>(moved) == 1);

        void* destination = map_pages(64);
        watch.observe(destination, 64 * page);
        CHECK(mremap(moved, 64 * page, 64 * page, MREMAP_MAYMOVE | MREMAP_FIXED, destination) ==
              destination);
        CHECK(watch.unmapped_bytes() == 64 * page);
        CHECK(munmap(destination, 64 * page) == 0);
    }
    SECTION("madvise") {
        for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
            watch.observe(memory, 4 * page);
            CHECK(madvise(memory, 2 * page, advice) == 0);
            CHECK(watch.unmapped_bytes() == 2 * page);
        }
        watch.observe(memory, 4 * page);
        CHECK(madvise(memory, 4 * page, MADV_WILLNEED) == 0);
        CHECK(watch.unmapped_bytes() == 0);
        CHECK(munmap(memory, 4 * page) == 0);
    }
    SECTION("a system call without the function") {
        watch.observe(memory, 4 * page);
        CHECK(syscall(SYS_munmap, memory, 4 * page) == 0);
        CHECK(watch.unmapped_bytes() == 4 * page);
    }
}

TEST_CASE_METHOD(watching,
                 "changes of the heap's break are reported, and shared segments with their size") {
    SECTION("sbrk and brk") {
        const auto step = static_cast<std::intptr_t>(4 * page);
        char* begin = static_cast<char*>(sbrk(step));
        REQUIRE(begin != MAP_FAILED);
        watch.observe(begin, 4 * page);
        CHECK(sbrk(-static_cast<std::intptr_t>(page)) == begin + step);
        CHECK(watch.unmapped_bytes() == page);
        CHECK(brk(begin) == 0);
        CHECK(watch.unmapped_bytes() == 4 * page);
        CHECK(sbrk(0) == begin);
    }
    SECTION("shmdt") {
        const int id = shmget(IPC_PRIVATE, 5 * page, IPC_CREAT | 0600);
        if (id < 0) {
            WARN("no System V shared memory on this host, errno " << errno);
            return;
        }
        void* memory = shmat(id, nullptr, 0);
        shmctl(id, IPC_RMID, nullptr);
        REQUIRE(reinterpret_cast<std::intptr_t>(memory) != -1);
        watch.observe(memory, 5 * page);
        CHECK(shmdt(memory) == 0);
        CHECK(watch.unmapped_bytes() == 5 * page);
    }
}

TEST_CASE("memory that malloc returns to the system is reported") {
    if (!test::has_allocator_of_libc) {
        WARN("skipped: the sanitizer's allocator calls the kernel without the C library");
        return;
    }
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
    constexpr std::size_t large = std::size_t{64} << 20;

    SECTION("by munmap") {
        void* block = std::malloc(large);
        REQUIRE(block != nullptr);
        watch.observe(block, large);
        std::free(block);
        CHECK(watch.unmapped_bytes() == large);
    }
    SECTION("by mremap") {
        void* block = std::malloc(large);
        REQUIRE(block != nullptr);
        watch.observe(block, large);
        void* longer = std::realloc(block, 2 * large);
        CHECK(watch.unmapped_bytes() == large);
        std::free(longer);
    }
    SECTION("by the break") {
        constexpr std::size_t middle = 100'000;
        REQUIRE(mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1);
        std::vector<void*> blocks(100);
        for (void*& one : blocks)
            one = std::malloc(middle);
        watch.observe(blocks[50], middle);
        for (void* one : blocks)
            std::free(one);
        malloc_trim(0);
        CHECK(watch.unmapped_bytes() >= middle - page);
    }
}

TEST_CASE_METHOD(watching, "a library that is opened later is watched as well") {
    void* library = dlopen(HAWSER_LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    INFO(dlerror());
    REQUIRE(library != nullptr);
    auto unmap = reinterpret_cast<int (*)(void*, std::size_t)>(dlsym(library, "late_unmap"));
    REQUIRE(unmap != nullptr);
    void* memory = map_pages(2);
    watch.observe(memory, 2 * page);
    CHECK(unmap(memory, 2 * page) == 0);
    CHECK(watch.unmapped_bytes() == 2 * page);
    dlclose(library);
}

TEST_CASE("the memory still exists when its end is reported") {
    static char* memory;
    static std::atomic<int> seen;
    seen = 0;
    memory = static_cast<char*>(map_pages(1));
    const auto read = [](ucm_event_type_t, ucm_event_t* event, void*) {
        if (event->vm_unmapped.address == memory) seen = *memory;
    };
    REQUIRE(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, read, nullptr) == UCS_OK);
    CHECK(munmap(memory, page) == 0);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, read, nullptr);
    CHECK(seen == 1);
}

TEST_CASE_METHOD(watching, "results and errno are those of the C library") {
    void* memory = map_pages(1);
    char* odd = static_cast<char*>(memory) + 1;

    errno = 0;
    CHECK(munmap(odd, page) == -1);
    CHECK(errno == EINVAL);
    errno = 0;
    CHECK(mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(errno == EINVAL);
    errno = 0;
    CHECK(mremap(odd, page, page, 0) == MAP_FAILED);
    CHECK(errno == EINVAL);
    errno = 0;
    CHECK(madvise(odd, page, MADV_DONTNEED) == -1);
    CHECK(errno == EINVAL);
    errno = 0;
    CHECK(shmdt(odd) == -1);
    CHECK(errno == EINVAL);
    errno = 0;
    CHECK(syscall(SYS_munmap, odd, page) == -1);
    CHECK(errno == EINVAL);
    CHECK(syscall(SYS_getpid) == getpid());
    CHECK(syscall(SYS_brk, nullptr) == reinterpret_cast<long>(sbrk(0)));

    // Errors inside a handler do not change errno.
    errno = EDOM;
    CHECK(munmap(memory, page) == 0);
    CHECK(errno == EDOM);
}

TEST_CASE_METHOD(watching,
                 "supported event types are reported by ucm_test_events, and others are refused") {
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MUNMAP | UCM_EVENT_BRK) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_SBRK) == UCS_OK);
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);

    const auto ignore = [](ucm_event_type_t, ucm_event_t*, void*) {};
    CHECK(ucm_set_event_handler(UCM_EVENT_SBRK, 0, ignore, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ucm_set_event_handler(UCM_EVENT_MEM_TYPE_FREE, 0, ignore, nullptr) ==
          UCS_ERR_UNSUPPORTED);
}

TEST_CASE("a handler may unmap memory") {
    static std::array<void*, 4> pages;
    static std::atomic<std::size_t> next;
    for (void*& one : pages)
        one = map_pages(1);
    next = 0;
    const auto unmap = [](ucm_event_type_t, ucm_event_t*, void*) {
        const std::size_t index = next++;
        if (index < pages.size()) munmap(pages[index], page);
    };
    void* memory = map_pages(1);
    REQUIRE(ucm_set_event_handler(UCM_EVENT_MUNMAP, 0, unmap, nullptr) == UCS_OK);
    CHECK(munmap(memory, page) == 0);
    ucm_unset_event_handler(UCM_EVENT_MUNMAP, unmap, nullptr);
    CHECK(next == pages.size() + 1);
}

// In an earlier version, the lock of the handler list belonged to a thread which the child does not
// have.
TEST_CASE_METHOD(
    watching, "the child of a fork is notified as well, while other threads use the handler list") {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&stop] {
            const auto ignore = [](ucm_event_type_t, ucm_event_t*, void*) {};
            while (!stop) {
                munmap(mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page);
                if (ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, ignore, &stop) != UCS_OK)
                    return;
                ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, ignore, &stop);
            }
        });
    }
    int bad = 0;
    for (int i = 0; i < 100; ++i) {
        void* memory = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        watch.observe(memory, page);
        const int status = test::run_in_child([&] {
            munmap(memory, page);
            const bool reported = watch.unmapped_bytes() == page;
            const auto ignore = [](ucm_event_type_t, ucm_event_t*, void*) {};
            const bool set = ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, ignore, nullptr) == 0;
            ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, ignore, nullptr);
            return reported && set ? 0 : 1;
        });
        if (status != 0) ++bad;
        // Another thread may map and unmap the same address next, and may be notifying handlers
        // when the count begins anew.
        watch.observe(nullptr, 0);
        munmap(memory, page);
    }
    stop = true;
    for (std::thread& one : threads)
        one.join();
    CHECK(bad == 0);
}
