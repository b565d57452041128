// Installation of the replacements: where the system forbids it, and while other threads execute
// the functions. This is the first file of the program, because no function may have been replaced
// before when all cases run in one process.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "test/support/child.hpp"
#include "test/unit/ucm/hook/watch.hpp"

namespace {

constexpr std::size_t page = 4096;

using first_bytes = std::array<char, 32>;

first_bytes code_of(const char* name) {
    void* library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    const void* code = dlsym(library, name);
    first_bytes bytes{};
    std::memcpy(bytes.data(), code, bytes.size());
    dlclose(library);
    return bytes;
}

std::vector<first_bytes> code_of_all() {
    std::vector<first_bytes> all;
    for (const char* name :
         {"mmap", "munmap", "mremap", "madvise", "brk", "sbrk", "shmat", "shmdt", "syscall"})
        all.push_back(code_of(name));
    return all;
}

// Calls the functions until `stop` is set. Returns false if one of them failed.
bool use_memory(const std::atomic<bool>& stop, std::atomic<unsigned>& rounds) {
    while (!stop) {
        void* memory =
            mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return false;
        std::memset(memory, 1, page);
        if (madvise(memory, page, MADV_DONTNEED) != 0) return false;
        if (*static_cast<char*>(memory) != 0) return false;
        memory = mremap(memory, 2 * page, page, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED) return false;
        if (syscall(SYS_madvise, memory, page, MADV_NORMAL) != 0) return false;
        if (munmap(memory, page) != 0) return false;
        ++rounds;
    }
    return true;
}

// Makes mprotect refuse memory that is both writable and executable, from now on.
bool forbid_writing_code() {
    constexpr unsigned both = PROT_WRITE | PROT_EXEC;
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, both),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, both, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

TEST_CASE("if code must not be written, handlers are refused and no function is changed") {
    const int status = test::run_in_child([] {
        if (!forbid_writing_code()) return 2;
        const std::vector<first_bytes> untouched = code_of_all();
        const test::watch refused;
        const test::watch without_install(UCM_EVENT_FLAG_NO_INSTALL);
        const bool good =
            refused.status() == UCS_ERR_UNSUPPORTED && without_install.status() == UCS_OK &&
            ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK && code_of_all() == untouched;
        return good ? 0 : 1;
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        WARN("skipped: this host permits no filter of system calls");
        return;
    }
    CHECK(status == 0);
}

TEST_CASE("the first handler replaces functions while threads execute them") {
    const std::vector<first_bytes> untouched = code_of_all();
    test::watch without_install(UCM_EVENT_FLAG_NO_INSTALL);
    REQUIRE(without_install.status() == UCS_OK);
    CHECK(code_of_all() == untouched);

    std::atomic<bool> stop{false};
    std::atomic<unsigned> rounds{0};
    std::atomic<bool> good{true};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            if (!use_memory(stop, rounds)) good = false;
        });
    }
    const auto run_rounds = [&](unsigned count) {
        const unsigned until = rounds + count;
        while (rounds < until && good)
            std::this_thread::yield();
    };
    run_rounds(500);
    {
        test::watch first;
        REQUIRE(first.status() == UCS_OK);
        run_rounds(500);
        const std::vector<first_bytes> replaced = code_of_all();
        CHECK(replaced != untouched);

        // The second handler finds all replacements installed.
        test::watch second;
        CHECK(second.status() == UCS_OK);
        CHECK(code_of_all() == replaced);
        run_rounds(500);
    }
    stop = true;
    for (std::thread& one : threads)
        one.join();
    CHECK(good);
}
