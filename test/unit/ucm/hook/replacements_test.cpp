// What the replaced functions of the C library tell.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

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

}  // namespace

TEST_CASE("what the C library unmaps is told") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
    void* memory = map_pages(4);

    SECTION("munmap") {
        watch.look_at(memory, 4 * page);
        CHECK(munmap(memory, 3 * page) == 0);
        CHECK(watch.told() == 3 * page);
        CHECK(munmap(static_cast<char*>(memory) + 3 * page, page) == 0);
    }
    SECTION("a mapping in its place") {
        watch.look_at(memory, 4 * page);
        CHECK(mmap(memory, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
              memory);
        CHECK(watch.told() == page);
        CHECK(munmap(memory, 4 * page) == 0);
    }
    SECTION("mremap") {
        watch.look_at(memory, 4 * page);
        void* moved = mremap(memory, 4 * page, 64 * page, MREMAP_MAYMOVE);
        REQUIRE(moved != MAP_FAILED);
        CHECK(watch.told() == 4 * page);
        CHECK(*static_cast<char*>(moved) == 1);

        void* place = map_pages(64);
        watch.look_at(place, 64 * page);
        CHECK(mremap(moved, 64 * page, 64 * page, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
        CHECK(watch.told() == 64 * page);
        CHECK(munmap(place, 64 * page) == 0);
    }
    SECTION("madvise") {
        for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
            watch.look_at(memory, 4 * page);
            CHECK(madvise(memory, 2 * page, advice) == 0);
            CHECK(watch.told() == 2 * page);
        }
        watch.look_at(memory, 4 * page);
        CHECK(madvise(memory, 4 * page, MADV_WILLNEED) == 0);
        CHECK(watch.told() == 0);
        CHECK(munmap(memory, 4 * page) == 0);
    }
    SECTION("a system call without the function") {
        watch.look_at(memory, 4 * page);
        CHECK(syscall(SYS_munmap, memory, 4 * page) == 0);
        CHECK(watch.told() == 4 * page);
    }
}

TEST_CASE("the break of the heap is told, and of shared segments the size") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);

    SECTION("sbrk and brk") {
        const auto step = static_cast<std::intptr_t>(4 * page);
        char* begin = static_cast<char*>(sbrk(step));
        REQUIRE(begin != MAP_FAILED);
        watch.look_at(begin, 4 * page);
        CHECK(sbrk(-static_cast<std::intptr_t>(page)) == begin + step);
        CHECK(watch.told() == page);
        CHECK(brk(begin) == 0);
        CHECK(watch.told() == 4 * page);
        CHECK(sbrk(0) == begin);
    }
    SECTION("shmdt") {
        const int id = shmget(IPC_PRIVATE, 5 * page, IPC_CREAT | 0600);
        if (id < 0) {
            WARN("no System V shared memory here, errno " << errno);
            return;
        }
        void* memory = shmat(id, nullptr, 0);
        shmctl(id, IPC_RMID, nullptr);
        REQUIRE(reinterpret_cast<std::intptr_t>(memory) != -1);
        watch.look_at(memory, 5 * page);
        CHECK(shmdt(memory) == 0);
        CHECK(watch.told() == 5 * page);
    }
}

TEST_CASE("what malloc gives back to the system is told") {
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
        watch.look_at(block, large);
        std::free(block);
        CHECK(watch.told() == large);
    }
    SECTION("by mremap") {
        void* block = std::malloc(large);
        REQUIRE(block != nullptr);
        watch.look_at(block, large);
        void* longer = std::realloc(block, 2 * large);
        CHECK(watch.told() == large);
        std::free(longer);
    }
    SECTION("by the break") {
        constexpr std::size_t middle = 100'000;
        REQUIRE(mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1);
        std::vector<void*> blocks(100);
        for (void*& one : blocks)
            one = std::malloc(middle);
        watch.look_at(blocks[50], middle);
        for (void* one : blocks)
            std::free(one);
        malloc_trim(0);
        CHECK(watch.told() >= middle - page);
    }
}

TEST_CASE("a library that is opened later is watched as well") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
    void* library = dlopen(HAWSER_LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    INFO(dlerror());
    REQUIRE(library != nullptr);
    auto unmap = reinterpret_cast<int (*)(void*, std::size_t)>(dlsym(library, "late_unmap"));
    REQUIRE(unmap != nullptr);
    void* memory = map_pages(2);
    watch.look_at(memory, 2 * page);
    CHECK(unmap(memory, 2 * page) == 0);
    CHECK(watch.told() == 2 * page);
    dlclose(library);
}

TEST_CASE("the memory is still there when its end is told") {
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

TEST_CASE("results and errno are those of the C library") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
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

    // Handlers that fail at something of their own leave no trace.
    errno = EDOM;
    CHECK(munmap(memory, page) == 0);
    CHECK(errno == EDOM);
}

TEST_CASE("kinds of events are noticed or refused, and the test says so") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MUNMAP | UCM_EVENT_BRK) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_SBRK) == UCS_OK);
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);

    const auto ignore = [](ucm_event_type_t, ucm_event_t*, void*) {};
    CHECK(ucm_set_event_handler(UCM_EVENT_SBRK, 0, ignore, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ucm_set_event_handler(UCM_EVENT_MEM_TYPE_FREE, 0, ignore, nullptr) ==
          UCS_ERR_UNSUPPORTED);
}

TEST_CASE("a handler may unmap memory itself") {
    static std::array<void*, 4> pages;
    static std::atomic<std::size_t> next;
    for (void*& one : pages)
        one = map_pages(1);
    next = 0;
    const auto unmap = [](ucm_event_type_t, ucm_event_t*, void*) {
        const std::size_t mine = next++;
        if (mine < pages.size()) munmap(pages[mine], page);
    };
    void* memory = map_pages(1);
    REQUIRE(ucm_set_event_handler(UCM_EVENT_MUNMAP, 0, unmap, nullptr) == UCS_OK);
    CHECK(munmap(memory, page) == 0);
    ucm_unset_event_handler(UCM_EVENT_MUNMAP, unmap, nullptr);
    CHECK(next == pages.size() + 1);
}

// The lock of the list of handlers was that of a thread which the child does not have.
TEST_CASE("the child of a fork is told as well, whatever other threads were doing") {
    test::watch watch;
    REQUIRE(watch.status() == UCS_OK);
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
        watch.look_at(memory, page);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(60);
            munmap(memory, page);
            const bool told = watch.told() == page;
            const auto ignore = [](ucm_event_type_t, ucm_event_t*, void*) {};
            const bool set = ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, ignore, nullptr) == 0;
            ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, ignore, nullptr);
            _exit(told && set ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) ++bad;
        // Another thread may map and unmap the same place next, and be in the middle of telling so
        // when the count begins anew.
        watch.look_at(nullptr, 0);
        munmap(memory, page);
    }
    stop = true;
    for (std::thread& one : threads)
        one.join();
    CHECK(bad == 0);
}
