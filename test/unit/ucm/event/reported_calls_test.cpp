// System calls that notify handlers.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "test/unit/ucm/event/recorder.hpp"

namespace {

constexpr int all_events = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT |
                           UCM_EVENT_SHMDT | UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_BRK |
                           UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL;

std::size_t page() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* map_pages(std::size_t count) {
    return ucm_mmap(nullptr, count * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
}

}  // namespace

TEST_CASE("mmap and munmap report the call and the range") {
    test::recorder seen;
    test::scoped_handler handler(seen, all_events);
    void* memory = map_pages(3);
    REQUIRE(memory != MAP_FAILED);
    static_cast<char*>(memory)[2 * page()] = 1;
    REQUIRE(seen.entries.size() == 2);
    CHECK(seen.entries[0].type == UCM_EVENT_MMAP);
    CHECK(seen.entries[0].event.mmap.result == memory);
    CHECK(seen.entries[0].event.mmap.size == 3 * page());
    CHECK(seen.entries[1].type == UCM_EVENT_VM_MAPPED);
    CHECK(seen.entries[1].event.vm_mapped.address == memory);

    seen.entries.clear();
    CHECK(ucm_munmap(memory, 3 * page()) == 0);
    REQUIRE(seen.entries.size() == 2);
    CHECK(seen.entries[0].type == UCM_EVENT_VM_UNMAPPED);
    CHECK(seen.entries[0].event.vm_unmapped.size == 3 * page());
    CHECK(seen.entries[1].type == UCM_EVENT_MUNMAP);
    CHECK(seen.entries[1].event.munmap.result == 0);
}

TEST_CASE("a failed mmap maps nothing") {
    test::recorder seen;
    test::scoped_handler handler(seen, all_events);
    CHECK(ucm_mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(errno == EINVAL);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED).empty());
    CHECK(seen.events_of_type(UCM_EVENT_MMAP).size() == 1);
}

TEST_CASE("a fixed mapping unmaps the previous mapping") {
    void* memory = map_pages(1);
    REQUIRE(memory != MAP_FAILED);
    test::recorder seen;
    {
        test::scoped_handler handler(seen, all_events);
        CHECK(ucm_mmap(memory, page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
              memory);
    }
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED)[0].event.vm_unmapped.address == memory);
    CHECK(ucm_munmap(memory, page()) == 0);
}

TEST_CASE("a handler of negative priority can perform the call") {
    static char provided[16];
    const auto provide = [](ucm_event_type_t, ucm_event_t* event, void*) {
        event->mmap.result = provided;
    };
    constexpr int events = UCM_EVENT_MMAP | UCM_EVENT_FLAG_NO_INSTALL;
    REQUIRE(ucm_set_event_handler(events, -1, provide, nullptr) == UCS_OK);
    void* memory = map_pages(1);
    ucm_unset_event_handler(UCM_EVENT_MMAP, provide, nullptr);
    CHECK(memory == provided);
}

TEST_CASE("mremap reports the old and the new range") {
    void* memory = map_pages(1);
    REQUIRE(memory != MAP_FAILED);
    test::recorder seen;
    void* moved = MAP_FAILED;
    {
        test::scoped_handler handler(seen, all_events);
        moved = ucm_mremap(memory, page(), 4 * page(), MREMAP_MAYMOVE);
    }
    REQUIRE(moved != MAP_FAILED);
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED)[0].event.vm_unmapped.address == memory);
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_MAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED)[0].event.vm_mapped.address == moved);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED)[0].event.vm_mapped.size == 4 * page());
    CHECK(ucm_munmap(moved, 4 * page()) == 0);
}

TEST_CASE("mremap to an address of the caller unmaps the previous mapping") {
    void* memory = map_pages(1);
    void* destination = map_pages(1);
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(destination != MAP_FAILED);
    *static_cast<char*>(memory) = 7;
    test::recorder seen;
    {
        test::scoped_handler handler(seen, all_events);
        CHECK(ucm_mremap(memory, page(), page(), MREMAP_MAYMOVE | MREMAP_FIXED, destination) ==
              destination);
    }
    CHECK(*static_cast<char*>(destination) == 7);
    const auto unmapped = seen.events_of_type(UCM_EVENT_VM_UNMAPPED);
    REQUIRE(unmapped.size() == 2);
    CHECK(unmapped[0].event.vm_unmapped.address == memory);
    CHECK(unmapped[1].event.vm_unmapped.address == destination);
    CHECK(ucm_orig_mremap(destination, page(), page(), MREMAP_MAYMOVE | MREMAP_FIXED, memory) ==
          memory);
    CHECK(ucm_munmap(memory, page()) == 0);
}

TEST_CASE("advice that drops the contents is reported as unmapping") {
    void* memory = map_pages(1);
    REQUIRE(memory != MAP_FAILED);
    test::recorder seen;
    {
        test::scoped_handler handler(seen, all_events);
        CHECK(ucm_madvise(memory, page(), MADV_WILLNEED) == 0);
        CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).empty());
        CHECK(ucm_madvise(memory, page(), MADV_DONTNEED) == 0);
    }
    CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_MADVISE).size() == 2);
    CHECK(ucm_munmap(memory, page()) == 0);
}

TEST_CASE("shared memory segments are reported with their size") {
    const int id = shmget(IPC_PRIVATE, 5 * page(), IPC_CREAT | 0600);
    if (id < 0) {
        WARN("no System V shared memory on this host, errno " << errno);
        return;
    }
    test::recorder seen;
    test::scoped_handler handler(seen, all_events);
    void* memory = ucm_shmat(id, nullptr, 0);
    shmctl(id, IPC_RMID, nullptr);
    REQUIRE(reinterpret_cast<std::intptr_t>(memory) != -1);
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_MAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED)[0].event.vm_mapped.size == 5 * page());

    CHECK(ucm_shmdt(memory) == 0);
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED)[0].event.vm_unmapped.address == memory);
    CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED)[0].event.vm_unmapped.size == 5 * page());
}

TEST_CASE("growth and shrinking of the program break are reported") {
    test::recorder seen;
    test::scoped_handler handler(seen, UCM_EVENT_SBRK | UCM_EVENT_BRK | UCM_EVENT_VM_MAPPED |
                                           UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL);
    seen.entries.reserve(16);  // the allocator must not move the break
    const auto step = static_cast<intptr_t>(page());
    char* before = static_cast<char*>(ucm_sbrk(step));
    REQUIRE(before != MAP_FAILED);
    REQUIRE(seen.events_of_type(UCM_EVENT_VM_MAPPED).size() == 1);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED)[0].event.vm_mapped.address == before);
    CHECK(seen.events_of_type(UCM_EVENT_VM_MAPPED)[0].event.vm_mapped.size == page());

    if (ucm_orig_sbrk(0) == before + step) {  // no other code has moved it
        CHECK(ucm_brk(before) == 0);
        CHECK(seen.events_of_type(UCM_EVENT_BRK).size() == 1);
        REQUIRE(seen.events_of_type(UCM_EVENT_VM_UNMAPPED).size() == 1);
        CHECK(seen.events_of_type(UCM_EVENT_VM_UNMAPPED)[0].event.vm_unmapped.address == before);
    }
}
