// Events that the replaced functions of the CUDA driver report.
#include <dlfcn.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "test/support/child.hpp"
#include "test/unit/ucm/cuda/fake_driver.h"
#include "test/unit/ucm/event/recorder.hpp"

namespace {

using address_t = unsigned long long;

constexpr int alloc_events = UCM_EVENT_MEM_TYPE_ALLOC;
constexpr int free_events = UCM_EVENT_MEM_TYPE_FREE;
constexpr int both = alloc_events | free_events;
constexpr std::size_t size = 5000;

void* load(const char* file) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::abort();
    return library;
}

template<class Function>
Function find(void* library, const char* name) {
    void* const code = dlsym(library, name);
    if (code == nullptr) std::abort();
    return reinterpret_cast<Function>(code);
}

// The functions of a fake driver, each called as often as the test calls it.
struct driver {
    explicit driver(const char* file) : library(load(file)) {}

    template<class... Parameters>
    int call(const char* name, Parameters... arguments) const {
        return find<int (*)(Parameters...)>(library, name)(arguments...);
    }
    [[nodiscard]] address_t alloc() const {
        address_t address = 0;
        if (call("cuMemAlloc_v2", &address, size) != 0) std::abort();
        return address;
    }
    [[nodiscard]] fake_driver_state& state() const {
        return *find<fake_driver_state* (*)()>(library, "fake_driver")();
    }

    void* library;
};

// The driver of most cases, which is loaded by the first one of them.
driver& the_driver() {
    static driver only(HAWSER_FAKE_DRIVER);
    return only;
}

// The events that a handler for both kinds receives during a case.
struct watched_driver {
    watched_driver() {
        REQUIRE(handler.status() == UCS_OK);
        gpu.state().calls = 0;
    }

    // Checks that the last call was reported by one event, and made one call in the driver.
    void check(ucm_event_type_t type, address_t address, std::size_t bytes,
               ucs_memory_type_t memory_type = UCS_MEMORY_TYPE_CUDA) {
        REQUIRE(seen.entries.size() == 1);
        CHECK(seen.entries[0].type == type);
        CHECK(seen.entries[0].event.mem_type.address == reinterpret_cast<void*>(address));
        CHECK(seen.entries[0].event.mem_type.size == bytes);
        CHECK(seen.entries[0].event.mem_type.mem_type == memory_type);
        CHECK(gpu.state().calls == 1);
        seen.entries.clear();
        gpu.state().calls = 0;
    }

    driver& gpu = the_driver();
    test::recorder seen;
    test::scoped_handler handler{seen, both};
};

ucs_status_t try_handler(int events) {
    test::recorder seen;
    const test::scoped_handler handler(seen, events);
    return handler.status();
}

// Calls a function with registers that it must keep, and returns whether it kept them.
extern "C" bool keeps_registers(int (*function)(), void* a, std::size_t b, void* c, void* d);
__asm__(R"(
    .text
    .globl keeps_registers
    .type keeps_registers, @function
keeps_registers:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %rcx
    movq %rsp, %rbx
    leaq 1(%rsp), %rbp
    leaq 2(%rsp), %r12
    leaq 3(%rsp), %r13
    leaq 4(%rsp), %r14
    leaq 5(%rsp), %r15
    call *%rax
    xorl %eax, %eax
    cmpq %rsp, %rbx
    jne 1f
    subq $1, %rbp
    cmpq %rsp, %rbp
    jne 1f
    subq $2, %r12
    cmpq %rsp, %r12
    jne 1f
    subq $3, %r13
    cmpq %rsp, %r13
    jne 1f
    subq $4, %r14
    cmpq %rsp, %r14
    jne 1f
    subq $5, %r15
    cmpq %rsp, %r15
    jne 1f
    movl $1, %eax
1:  addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
    .size keeps_registers, .-keeps_registers
)");

// Writes the jump of 13 bytes that other libraries write over functions.
void overwrite(void* function, void* target) {
    auto* const code = static_cast<unsigned char*>(function);
    const auto address = reinterpret_cast<std::uintptr_t>(code);
    void* const page = reinterpret_cast<void*>(address & ~std::uintptr_t{4095});
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    code[0] = 0x49;
    code[1] = 0xbb;
    std::memcpy(code + 2, &target, sizeof(target));
    code[10] = 0x41;
    code[11] = 0xff;
    code[12] = 0xe3;
}

// Returns the target of our jump at the start of a function.
void* target_of_jump(void* function) {
    auto* const code = static_cast<unsigned char*>(function);
    std::int32_t distance;
    std::memcpy(&distance, code + 1, sizeof(distance));
    return code[0] == 0xe9 ? code + 5 + distance : nullptr;
}

// The replacement of another library, which calls what it found in the place of the function.
std::atomic<int> foreign_calls{0};
int (*behind_foreign)(address_t*, std::size_t) = nullptr;

int foreign_alloc(address_t* address, std::size_t bytes) {
    ++foreign_calls;
    return behind_foreign(address, bytes);
}

}  // namespace

TEST_CASE("handlers of device memory are refused until the driver is loaded") {
    const int status = test::run_in_child([] {
        test::recorder seen;
        const test::scoped_handler early(seen, both | UCM_EVENT_FLAG_NO_INSTALL);
        if (early.status() != UCS_OK) return 1;
        if (try_handler(alloc_events) != UCS_ERR_UNSUPPORTED) return 2;
        if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr) return 3;
        const driver gpu(HAWSER_FAKE_DRIVER);
        (void)gpu.alloc();
        if (!seen.entries.empty()) return 4;
        if (try_handler(alloc_events) != UCS_OK) return 5;
        (void)gpu.alloc();
        return seen.entries.size() == 1 ? 0 : 6;
    });
    CHECK(status == 0);
}

TEST_CASE("the option decides whether functions of the driver are replaced") {
    const int status = test::run_in_child([] {
        const driver gpu(HAWSER_FAKE_DRIVER);
        ucm_global_opts.mmap_hook_mode = UCM_MMAP_HOOK_NONE;
        for (const int modes : {0, static_cast<int>(UCS_BIT(UCM_MMAP_HOOK_NONE))}) {
            ucm_global_opts.cuda_hook_modes = modes;
            if (try_handler(both) != UCS_ERR_UNSUPPORTED) return 1;
        }
        ucm_global_opts.cuda_hook_modes = UCS_BIT(UCM_MMAP_HOOK_RELOC);
        return try_handler(both) == UCS_OK ? 0 : 2;
    });
    CHECK(status == 0);
}

TEST_CASE("a kind is refused if one of its functions cannot be replaced") {
    const int status = test::run_in_child([] {
        const driver gpu(HAWSER_FAKE_DRIVER_WITH_UNKNOWN_FREE);
        if (try_handler(free_events) != UCS_ERR_UNSUPPORTED) return 1;
        if (try_handler(both) != UCS_ERR_UNSUPPORTED) return 2;
        test::recorder seen;
        const test::scoped_handler handler(seen, alloc_events);
        if (handler.status() != UCS_OK) return 3;
        if (ucm_test_events(both) != UCS_OK) return 4;
        const address_t address = gpu.alloc();
        if (gpu.call("cuMemFree_v2", address) != 0) return 5;
        return seen.entries.size() == 1 ? 0 : 6;
    });
    CHECK(status == 0);
}

TEST_CASE("functions of the driver are replaced while threads execute them") {
    const int status = test::run_in_child([] {
        const driver gpu(HAWSER_FAKE_DRIVER);
        std::atomic<bool> stop{false};
        std::atomic<unsigned> rounds{0};
        std::atomic<unsigned> failures{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                while (!stop) {
                    address_t address = 0;
                    std::size_t pitch = 0;
                    if (gpu.call("cuMemAllocPitch_v2", &address, &pitch, size, size, 4U) != 0 ||
                        gpu.call("cuMemFreeAsync_ptsz", address, nullptr) != 0) {
                        ++failures;
                    }
                    ++rounds;
                }
            });
        }
        const auto run_rounds = [&](unsigned count) {
            const unsigned until = rounds + count;
            while (rounds < until)
                std::this_thread::yield();
        };
        static std::atomic<unsigned> events{0};
        const auto count = [](ucm_event_type_t, ucm_event_t*, void*) { ++events; };
        run_rounds(500);
        const ucs_status_t set = ucm_set_event_handler(both, 0, count, nullptr);
        run_rounds(500);
        stop = true;
        for (std::thread& one : threads)
            one.join();
        if (set != UCS_OK) return 1;
        return failures == 0 && events >= 2 * 400 ? 0 : 2;
    });
    CHECK(status == 0);
}

TEST_CASE("a replacement of another library stays in use") {
    const int status = test::run_in_child([] {
        const driver gpu(HAWSER_FAKE_DRIVER);
        test::recorder seen;
        const test::scoped_handler handler(seen, alloc_events);
        if (handler.status() != UCS_OK) return 1;
        void* const function = dlsym(gpu.library, "cuMemAlloc_v2");
        void* const ours = target_of_jump(function);
        if (ours == nullptr) return 2;
        behind_foreign = reinterpret_cast<int (*)(address_t*, std::size_t)>(ours);
        overwrite(function, reinterpret_cast<void*>(foreign_alloc));
        (void)gpu.alloc();
        if (foreign_calls != 1 || seen.entries.size() != 1) return 3;

        // The test repairs our replacement, which calls the other one, which calls ours.
        if (ucm_test_events(alloc_events) != UCS_OK) return 4;
        if (target_of_jump(function) == nullptr) return 5;
        (void)gpu.alloc();
        if (foreign_calls != 2 || seen.entries.size() != 2) return 6;
        return gpu.state().calls == 2 ? 0 : 7;
    });
    CHECK(status == 0);
}

TEST_CASE_METHOD(watched_driver, "allocated memory is reported after the call") {
    address_t address = 0;
    void* const pool = &address;
    void* const stream = &seen;

    SECTION("cuMemAlloc_v2") {
        CHECK(gpu.call("cuMemAlloc_v2", &address, size) == 0);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
    }
    SECTION("cuMemAllocPitch_v2") {
        std::size_t pitch = 0;
        CHECK(gpu.call("cuMemAllocPitch_v2", &address, &pitch, std::size_t{1000}, std::size_t{7},
                       16U) == 0);
        CHECK(pitch == 1024);
        CHECK(gpu.state().arguments == 16);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 7 * 1024);
    }
    SECTION("cuMemAllocManaged") {
        CHECK(gpu.call("cuMemAllocManaged", &address, size, 3U) == 0);
        CHECK(gpu.state().arguments == 3);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size, UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
    SECTION("cuMemAllocAsync") {
        CHECK(gpu.call("cuMemAllocAsync", &address, size, stream) == 0);
        CHECK(gpu.state().arguments == reinterpret_cast<std::uintptr_t>(stream));
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
        CHECK(gpu.call("cuMemAllocAsync_ptsz", &address, size, stream) == 0);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
    }
    SECTION("cuMemAllocFromPoolAsync") {
        CHECK(gpu.call("cuMemAllocFromPoolAsync", &address, size, pool, stream) == 0);
        CHECK(gpu.state().arguments ==
              reinterpret_cast<std::uintptr_t>(pool) + reinterpret_cast<std::uintptr_t>(stream));
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
    }
    SECTION("cuMemMap") {
        address = 0x10000;
        CHECK(gpu.call("cuMemMap", address, size, std::size_t{3}, address_t{5}, address_t{7}) == 0);
        CHECK(gpu.state().arguments == address + size + 15);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
    }
    SECTION("cuIpcOpenMemHandle_v2") {
        struct {
            std::size_t bytes = size;
            char reserved[48]{};
            address_t last = 40;
        } handle;
        CHECK(gpu.call("cuIpcOpenMemHandle_v2", &address, handle, 2U) == 0);
        CHECK(gpu.state().arguments == 42);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, size);
    }
}

TEST_CASE_METHOD(watched_driver, "freed memory is reported before the call") {
    address_t address = gpu.alloc();
    seen.entries.clear();
    gpu.state().calls = 0;

    SECTION("cuMemFree_v2, which calls another function that is replaced") {
        CHECK(gpu.call("cuMemFree_v2", address) == 0);
        check(UCM_EVENT_MEM_TYPE_FREE, address, size);
    }
    SECTION("cuMemFreeAsync") {
        CHECK(gpu.call("cuMemFreeAsync", address, static_cast<void*>(&seen)) == 0);
        CHECK(gpu.state().arguments == reinterpret_cast<std::uintptr_t>(&seen));
        check(UCM_EVENT_MEM_TYPE_FREE, address, size);
    }
    SECTION("cuMemFreeAsync_ptsz") {
        CHECK(gpu.call("cuMemFreeAsync_ptsz", address, static_cast<void*>(&seen)) == 0);
        CHECK(gpu.state().arguments == reinterpret_cast<std::uintptr_t>(&seen));
        check(UCM_EVENT_MEM_TYPE_FREE, address, size);
    }
    SECTION("cuMemUnmap, whose code is found by its first call") {
        CHECK(gpu.call("cuMemUnmap", address, std::size_t{9}) == 0);
        CHECK(gpu.state().arguments == address + 9);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 9);
        CHECK(gpu.call("cuMemUnmap", address, std::size_t{9}) == 0);
        CHECK(gpu.state().bindings <= 1);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 9);
    }
    SECTION("cuIpcCloseMemHandle") {
        CHECK(gpu.call("cuIpcCloseMemHandle", address) == 0);
        check(UCM_EVENT_MEM_TYPE_FREE, address, size);
    }
    SECTION("managed memory") {
        CHECK(gpu.call("cuMemAllocManaged", &address, size, 1U) == 0);
        seen.entries.clear();
        gpu.state().calls = 0;
        CHECK(gpu.call("cuMemFree_v2", address) == 0);
        check(UCM_EVENT_MEM_TYPE_FREE, address, size, UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
    SECTION("an unknown address has the size 0, and a null address is no memory") {
        CHECK(gpu.call("cuMemFree_v2", address_t{17}) != 0);
        check(UCM_EVENT_MEM_TYPE_FREE, 17, 0);
        CHECK(gpu.call("cuMemFree_v2", address_t{0}) != 0);
        CHECK(seen.entries.empty());
    }
}

TEST_CASE_METHOD(watched_driver, "memory that the driver refuses is not reported") {
    gpu.state().is_full = 1;
    address_t address = 0;
    std::size_t pitch = 0;
    CHECK(gpu.call("cuMemAlloc_v2", &address, size) != 0);
    CHECK(gpu.call("cuMemAllocPitch_v2", &address, &pitch, size, size, 4U) != 0);
    CHECK(gpu.call("cuMemAllocManaged", &address, size, 1U) != 0);
    CHECK(gpu.call("cuMemMap", address, std::size_t{0}, std::size_t{0}, address_t{0},
                   address_t{0}) != 0);
    gpu.state().is_full = 0;
    CHECK(seen.entries.empty());
}

TEST_CASE_METHOD(watched_driver, "a handler may free memory, which is reported as well") {
    static address_t other;
    static driver* used;
    used = &gpu;
    other = gpu.alloc();
    const address_t address = gpu.alloc();
    seen.entries.clear();
    seen.entries.reserve(8);
    const auto free_other = [](ucm_event_type_t, ucm_event_t*, void*) {
        if (const address_t freed = std::exchange(other, 0); freed != 0)
            used->call("cuMemFree_v2", freed);
    };
    REQUIRE(ucm_set_event_handler(free_events, 1, free_other, nullptr) == UCS_OK);
    CHECK(gpu.call("cuMemFree_v2", address) == 0);
    ucm_unset_event_handler(free_events, free_other, nullptr);
    CHECK(seen.entries.size() == 2);
    CHECK(ucm_test_events(both) == UCS_OK);
}

TEST_CASE_METHOD(watched_driver, "replaced functions keep the registers of their caller") {
    address_t address = 0;
    std::size_t pitch = 0;
    for (const char* name : {"cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocAsync",
                             "cuMemAllocFromPoolAsync", "cuMemFreeAsync_ptsz", "cuMemUnmap"}) {
        CAPTURE(name);
        CHECK(keeps_registers(find<int (*)()>(gpu.library, name), &address, 64, nullptr, nullptr));
    }
    CHECK(keeps_registers(find<int (*)()>(gpu.library, "cuMemAllocPitch_v2"), &address,
                          reinterpret_cast<std::size_t>(&pitch), &pitch, nullptr));
    CHECK(keeps_registers(find<int (*)()>(gpu.library, "cuMemFree_v2"),
                          reinterpret_cast<void*>(address), 0, nullptr, nullptr));
}
