// Handlers, external sources of events, and the two functions that test events.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "test/unit/ucm/event/recorder.hpp"

namespace {

std::atomic<bool> report_unmaps{false};
char some_memory[64];

// Number of malloc calls of this thread.
thread_local constinit unsigned long allocations = 0;

// Keeps functions from being replaced while it exists.
class only_reports {
public:
    only_reports() { ucm_global_opts.mmap_hook_mode = UCM_MMAP_HOOK_NONE; }
    ~only_reports() { ucm_global_opts = before_; }
    only_reports(const only_reports&) = delete;
    only_reports& operator=(const only_reports&) = delete;

private:
    ucm_global_config_t before_ = ucm_global_opts;
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(std::size_t size);

extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
    ++allocations;
    return __libc_malloc(size);
}
#endif

// Replaces the C library's function in this process, like the hooks of an MPI library.
extern "C" __attribute__((visibility("default"))) int munmap(void* addr, size_t length) noexcept {
    if (report_unmaps) ucm_vm_munmap(addr, length);
    return static_cast<int>(syscall(SYS_munmap, addr, length));
}

TEST_CASE("a handler for events without a source is refused") {
    const only_reports no_hooks;
    test::recorder seen;
    test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED);
    CHECK(handler.status() == UCS_ERR_UNSUPPORTED);
    ucm_vm_munmap(some_memory, sizeof(some_memory));
    CHECK(seen.entries.empty());
}

TEST_CASE("a handler that installs no hooks receives the events that are reported") {
    test::recorder seen;
    test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL);
    REQUIRE(handler.status() == UCS_OK);
    ucm_vm_munmap(some_memory, 17);
    ucm_vm_mmap(some_memory, 5);
    REQUIRE(seen.entries.size() == 1);
    CHECK(seen.entries[0].type == UCM_EVENT_VM_UNMAPPED);
    CHECK(seen.entries[0].event.vm_unmapped.address == some_memory);
    CHECK(seen.entries[0].event.vm_unmapped.size == 17);
}

TEST_CASE("a declared source makes handlers possible until it is removed") {
    const only_reports no_hooks;
    test::recorder seen;
    {
        test::scoped_external source(UCM_EVENT_VM_UNMAPPED);
        test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED);
        CHECK(handler.status() == UCS_OK);
        test::scoped_handler other(seen, UCM_EVENT_VM_UNMAPPED | UCM_EVENT_VM_MAPPED);
        CHECK(other.status() == UCS_ERR_UNSUPPORTED);
        ucm_vm_munmap(some_memory, 1);
        CHECK(seen.entries.size() == 1);
    }
    test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED);
    CHECK(handler.status() == UCS_ERR_UNSUPPORTED);
}

TEST_CASE("a handler without a callback or with an unknown bit is an invalid parameter") {
    CHECK(ucm_set_event_handler(UCM_EVENT_VM_MAPPED, 0, nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    test::recorder seen;
    test::scoped_handler unknown(seen, (1 << 30) | UCM_EVENT_FLAG_NO_INSTALL);
    CHECK(unknown.status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("a handler of no events is accepted and never runs") {
    test::recorder seen;
    test::scoped_handler none(seen, 0);
    CHECK(none.status() == UCS_OK);
    test::scoped_handler only_flags(seen, UCM_EVENT_FLAG_NO_INSTALL);
    CHECK(only_flags.status() == UCS_OK);
    ucm_vm_munmap(some_memory, 1);
    CHECK(seen.entries.empty());
}

TEST_CASE("handlers run by priority, then in the order in which they were added") {
    constexpr int events = UCM_EVENT_VM_MAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    test::recorder seen;
    test::scoped_handler a(seen, events, 10, 1);
    test::scoped_handler b(seen, events, -5, 2);
    test::scoped_handler c(seen, events, 10, 3);
    test::scoped_handler d(seen, events, 0, 4);
    ucm_vm_mmap(some_memory, 1);
    REQUIRE(seen.entries.size() == 4);
    CHECK(seen.entries[0].handler_id == 2);
    CHECK(seen.entries[1].handler_id == 4);
    CHECK(seen.entries[2].handler_id == 1);
    CHECK(seen.entries[3].handler_id == 3);
}

TEST_CASE("a part of a handler's events can be removed") {
    constexpr int both = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;
    static test::recorder seen;
    seen.entries.clear();
    const auto record = [](ucm_event_type_t type, ucm_event_t* event, void*) {
        seen.entries.push_back({type, *event, 0});
    };
    REQUIRE(ucm_set_event_handler(both | UCM_EVENT_FLAG_NO_INSTALL, 0, record, nullptr) == UCS_OK);
    ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, record, nullptr);
    ucm_vm_mmap(some_memory, 1);
    ucm_vm_munmap(some_memory, 1);
    CHECK(seen.entries.size() == 1);
    ucm_unset_event_handler(both, record, nullptr);
    ucm_vm_munmap(some_memory, 1);
    CHECK(seen.entries.size() == 1);
}

TEST_CASE("event types for which no function was replaced pass ucm_test_events") {
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_MUNMAP) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_MEM_TYPE_FREE) == UCS_OK);
    test::recorder seen;
    test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL);
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
}

// Open MPI 5 asks about events that it did not declare when its own memory hooks are off.
TEST_CASE("event types without a declared source pass ucm_test_external_events") {
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    CHECK(ucm_test_external_events(-1) == UCS_OK);
    test::scoped_external source(UCM_EVENT_MUNMAP);
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
}

TEST_CASE("a declared event type passes ucm_test_external_events when its source reports it") {
    test::scoped_external source(UCM_EVENT_VM_UNMAPPED);
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_ERR_UNSUPPORTED);
    CHECK(ucm_test_external_events(UCM_EVENT_VM_MAPPED) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    report_unmaps = true;
    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    report_unmaps = false;
}

TEST_CASE("ucm_test_external_events tests every event type") {
    for (const int kind : {UCM_EVENT_MMAP, UCM_EVENT_MUNMAP, UCM_EVENT_MREMAP, UCM_EVENT_MADVISE,
                           UCM_EVENT_VM_MAPPED}) {
        test::scoped_external source(kind);
        CHECK(ucm_test_external_events(kind) == UCS_ERR_UNSUPPORTED);
    }
}

TEST_CASE("a handler may unmap memory") {
    static int depth = 0;
    depth = 0;
    const auto recurse = [](ucm_event_type_t, ucm_event_t*, void*) {
        if (++depth < 5) ucm_vm_munmap(some_memory, 1);
    };
    constexpr int events = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    REQUIRE(ucm_set_event_handler(events, 0, recurse, nullptr) == UCS_OK);
    ucm_vm_munmap(some_memory, 1);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, recurse, nullptr);
    CHECK(depth == 5);
}

TEST_CASE("a handler may remove itself and set another") {
    static test::recorder seen;
    seen.entries.clear();
    seen.entries.reserve(16);
    constexpr int events = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    struct handlers {
        static void second(ucm_event_type_t type, ucm_event_t* event, void*) {
            seen.entries.push_back({type, *event, 2});
        }
        static void first(ucm_event_type_t type, ucm_event_t* event, void* arg) {
            seen.entries.push_back({type, *event, 1});
            ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, first, arg);
            if (ucm_set_event_handler(events, 1, second, arg) != UCS_OK) std::abort();
        }
    };
    REQUIRE(ucm_set_event_handler(events, 0, handlers::first, nullptr) == UCS_OK);
    ucm_vm_munmap(some_memory, 1);
    REQUIRE_FALSE(seen.entries.empty());
    CHECK(seen.entries[0].handler_id == 1);
    seen.entries.clear();
    ucm_vm_munmap(some_memory, 1);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, handlers::second, nullptr);
    REQUIRE(seen.entries.size() == 1);
    CHECK(seen.entries[0].handler_id == 2);
    ucm_vm_munmap(some_memory, 1);
    CHECK(seen.entries.size() == 1);
}

TEST_CASE("handlers change the list while other threads notify and change it") {
    static std::atomic<int> calls{0};
    constexpr int events = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    struct handlers {
        static void count(ucm_event_type_t, ucm_event_t*, void*) { ++calls; }
        static void change(ucm_event_type_t, ucm_event_t*, void* arg) {
            if (ucm_set_event_handler(events, 1, count, arg) != UCS_OK) std::abort();
            ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, count, arg);
        }
    };
    calls = 0;
    std::array<char, 4> arguments{};
    REQUIRE(ucm_set_event_handler(events, -1, handlers::change, arguments.data()) == UCS_OK);
    REQUIRE(ucm_set_event_handler(events, 0, handlers::count, nullptr) == UCS_OK);
    constexpr int rounds = 1000;
    std::vector<std::thread> threads;
    for (char& argument : arguments) {
        threads.emplace_back([&argument] {
            for (int i = 0; i < rounds; ++i) {
                ucm_vm_munmap(some_memory, 1);
                if (ucm_set_event_handler(UCM_EVENT_VM_MAPPED | UCM_EVENT_FLAG_NO_INSTALL, 0,
                                          handlers::count, &argument) != UCS_OK) {
                    std::abort();
                }
                ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, handlers::count, &argument);
            }
        });
    }
    for (std::thread& one : threads)
        one.join();
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, handlers::count, nullptr);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, handlers::change, arguments.data());
    CHECK(calls >= rounds * static_cast<int>(arguments.size()));
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
}

// In an earlier version, each handler was allocated with malloc, and the reported change can come
// from malloc.
TEST_CASE("setting, unsetting and notifying handlers does not allocate") {
    constexpr int events = UCM_EVENT_VM_MAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    static int calls;
    calls = 0;
    const auto count = [](ucm_event_type_t, ucm_event_t*, void*) { ++calls; };
    std::array<char, 1000> arguments{};
    bool good = true;
    const unsigned long before = allocations;
    for (char& one : arguments)
        good = good && ucm_set_event_handler(events, 0, count, &one) == UCS_OK;
    ucm_vm_mmap(some_memory, 1);
    for (char& one : arguments)
        ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, count, &one);
    const unsigned long after = allocations;
    CHECK(good);
    CHECK(calls == 1000);
    CHECK(after == before);
}

TEST_CASE("handlers are refused while events are disabled") {
    const ucm_global_config_t usual = ucm_global_opts;
    ucm_global_config_t none = usual;
    none.enable_events = 0;
    ucm_set_global_opts(&none);
    test::recorder seen;
    {
        test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL);
        CHECK(handler.status() == UCS_ERR_UNSUPPORTED);
    }
    ucm_set_global_opts(&usual);
    test::scoped_handler handler(seen, UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL);
    CHECK(handler.status() == UCS_OK);
}

TEST_CASE("ucm_dlopen opens a library by its name") {
    void* self = ucm_dlopen(nullptr, RTLD_LAZY);
    REQUIRE(self != nullptr);
    dlclose(self);
    CHECK(ucm_dlopen("lib-that-does-not-exist.so", RTLD_LAZY) == nullptr);
}

TEST_CASE("no handler runs after it was removed, while other threads notify") {
    constexpr int events = UCM_EVENT_VM_MAPPED | UCM_EVENT_FLAG_NO_INSTALL;
    struct target {
        std::atomic<bool> alive{true};
        std::atomic<bool> late{false};
    };
    const auto touch = [](ucm_event_type_t, ucm_event_t*, void* arg) {
        auto& self = *static_cast<target*>(arg);
        if (!self.alive) self.late = true;
    };
    std::atomic<bool> stop{false};
    std::thread teller([&] {
        while (!stop)
            ucm_vm_mmap(some_memory, 1);
    });
    bool late = false;
    for (int i = 0; i < 2000; ++i) {
        target object;
        REQUIRE(ucm_set_event_handler(events, 0, touch, &object) == UCS_OK);
        ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, touch, &object);
        object.alive = false;
        late = late || object.late;
    }
    stop = true;
    teller.join();
    CHECK_FALSE(late);
}
