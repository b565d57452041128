#include "ucm/hook/libc.hpp"

#include <dlfcn.h>

#include <cstdarg>
#include <cstring>

#include "ucm/api/ucm.h"
#include "ucm/event/kernel_call.hpp"
#include "ucm/event/reported_calls.hpp"
#include "ucm/hook/syscall_entry.hpp"

namespace ucm::hook {
namespace {

enum function_index : std::size_t {
    index_mmap,
    index_munmap,
    index_mremap,
    index_madvise,
    index_brk,
    index_sbrk,
    index_shmat,
    index_shmdt,
    index_syscall,
    function_count
};
extern replaced_function functions[function_count];

// Returns the replacement of another library, or null.
template<class Function>
Function chained(function_index index) noexcept {
    return function_at<Function>(functions[index].chained);
}

// A call that this thread has passed to another library's replacement. That replacement most likely
// makes the call by syscall(), or through the function that it found before, which may re-enter
// this hook. Such a call is neither reported nor passed on again.
struct passed_call {
    long number;
    long first_argument;
};
constexpr long no_call = -1;
constexpr long sbrk_call = -2;  // not a call of the kernel
__attribute__((tls_model("initial-exec"))) thread_local constinit passed_call passed{no_call, 0};

bool is_passed(long number, long first_argument) noexcept {
    return passed.number == number && passed.first_argument == first_argument;
}

template<class Call>
auto pass_on(long number, long first_argument, Call&& call) noexcept {
    const passed_call outer = passed;
    passed = {number, first_argument};
    auto result = call();
    passed = outer;
    return result;
}

void* pass_mmap(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
    return pass_on(SYS_mmap, as_argument(addr), [=] {
        return chained<reported::mmap_function>(index_mmap)(addr, length, prot, flags, fd, offset);
    });
}

int pass_munmap(void* addr, std::size_t length) {
    return pass_on(SYS_munmap, as_argument(addr),
                   [=] { return chained<reported::munmap_function>(index_munmap)(addr, length); });
}

void* pass_mremap(void* old_address, std::size_t old_size, std::size_t new_size, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* new_address = va_arg(rest, void*);  // reported::mremap always passes it
    va_end(rest);
    return pass_on(SYS_mremap, as_argument(old_address), [=] {
        return chained<reported::mremap_function>(index_mremap)(old_address, old_size, new_size,
                                                                flags, new_address);
    });
}

int pass_madvise(void* addr, std::size_t length, int advice) {
    return pass_on(SYS_madvise, as_argument(addr), [=] {
        return chained<reported::madvise_function>(index_madvise)(addr, length, advice);
    });
}

int pass_brk(void* addr) {
    return pass_on(SYS_brk, as_argument(addr),
                   [=] { return chained<reported::brk_function>(index_brk)(addr); });
}

void* pass_sbrk(std::intptr_t increment) {
    return pass_on(sbrk_call, increment,
                   [=] { return chained<reported::sbrk_function>(index_sbrk)(increment); });
}

void* pass_shmat(int shmid, const void* shmaddr, int shmflg) {
    return pass_on(SYS_shmat, shmid, [=] {
        return chained<reported::shmat_function>(index_shmat)(shmid, shmaddr, shmflg);
    });
}

int pass_shmdt(const void* shmaddr) {
    return pass_on(SYS_shmdt, as_argument(shmaddr),
                   [=] { return chained<reported::shmdt_function>(index_shmdt)(shmaddr); });
}

// Returns true if calls from this address are not reported. That happens in one build only: the
// thread sanitizer allows no locks in a thread that has ended, and the C library unmaps the
// thread's stack then.
bool is_excluded_caller([[maybe_unused]] const void* caller) noexcept {
#if defined(HAWSER_LEAVE_LIBC_ALONE)
    Dl_info info;
    return dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "/libc.so.") != nullptr;
#else
    return false;
#endif
}

template<class Function>
Function original(function_index index, Function pass, Function direct) noexcept {
    return chained<Function>(index) != nullptr ? pass : direct;
}

void* replaced_mmap(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
    if (is_passed(SYS_mmap, as_argument(addr))) {
        return ucm_orig_mmap(addr, length, prot, flags, fd, offset);
    }
    return reported::mmap(original(index_mmap, pass_mmap, ucm_orig_mmap), addr, length, prot, flags,
                          fd, offset);
}

int replaced_munmap(void* addr, std::size_t length) {
    if (is_excluded_caller(__builtin_return_address(0))) return ucm_orig_munmap(addr, length);
    if (is_passed(SYS_munmap, as_argument(addr))) return ucm_orig_munmap(addr, length);
    return reported::munmap(original(index_munmap, pass_munmap, ucm_orig_munmap), addr, length);
}

// If the caller has not passed the last argument, its register holds an arbitrary value.
void* replaced_mremap(void* old_address, std::size_t old_size, std::size_t new_size, int flags,
                      void* new_address) {
    if (is_passed(SYS_mremap, as_argument(old_address))) {
        return ucm_orig_mremap(old_address, old_size, new_size, flags, new_address);
    }
    return reported::mremap(original(index_mremap, pass_mremap, ucm_orig_mremap), old_address,
                            old_size, new_size, flags, new_address);
}

int replaced_madvise(void* addr, std::size_t length, int advice) {
    if (is_excluded_caller(__builtin_return_address(0)))
        return ucm_orig_madvise(addr, length, advice);
    if (is_passed(SYS_madvise, as_argument(addr))) return ucm_orig_madvise(addr, length, advice);
    return reported::madvise(original(index_madvise, pass_madvise, ucm_orig_madvise), addr, length,
                             advice);
}

int replaced_brk(void* addr) {
    if (is_passed(SYS_brk, as_argument(addr))) return ucm_orig_brk(addr);
    return reported::brk(original(index_brk, pass_brk, ucm_orig_brk), addr);
}

void* replaced_sbrk(std::intptr_t increment) {
    if (is_passed(sbrk_call, increment)) return ucm_orig_sbrk(increment);
    return reported::sbrk(original(index_sbrk, pass_sbrk, ucm_orig_sbrk), increment);
}

void* replaced_shmat(int shmid, const void* shmaddr, int shmflg) {
    if (is_passed(SYS_shmat, shmid)) return ucm_orig_shmat(shmid, shmaddr, shmflg);
    return reported::shmat(original(index_shmat, pass_shmat, ucm_orig_shmat), shmid, shmaddr,
                           shmflg);
}

int replaced_shmdt(const void* shmaddr) {
    if (is_passed(SYS_shmdt, as_argument(shmaddr))) return ucm_orig_shmdt(shmaddr);
    return reported::shmdt(original(index_shmdt, pass_shmdt, ucm_orig_shmdt), shmaddr);
}

// SYS_brk returns the break, not whether it moved.
long syscall_brk(long addr) noexcept {
    const auto function = [](void* wanted) {
        return static_cast<int>(kernel_call(SYS_brk, as_argument(wanted)) != as_argument(wanted));
    };
    reported::brk(function, reinterpret_cast<void*>(addr));
    return kernel_call(SYS_brk);
}

void continue_syscall(const entry& found) noexcept {
    set_rest_of_syscall(found.address + jump_size);
}

constexpr int both = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;

// The C library's sbrk calls brk, so it is replaced only if another library has replaced it.
// Therefore UCM_EVENT_SBRK, which reports the increment, is not detected. Replacements of other
// libraries call syscall, and so do programs; no kind of event depends on replacing it alone. It is
// the last one, and so the first to be replaced: no call of another library's replacement is missed
// in between.
constinit replaced_function functions[function_count] = {
    {"mmap", UCM_EVENT_MMAP | both, code_of<replaced_mmap>},
    {"munmap", UCM_EVENT_MUNMAP | UCM_EVENT_VM_UNMAPPED, code_of<replaced_munmap>},
    {"mremap", UCM_EVENT_MREMAP | both, code_of<replaced_mremap>},
    {"madvise", UCM_EVENT_MADVISE | UCM_EVENT_VM_UNMAPPED, code_of<replaced_madvise>},
    {"brk", UCM_EVENT_BRK | both, code_of<replaced_brk>},
    {.name = "sbrk",
     .events = UCM_EVENT_BRK | both,
     .replacement = code_of<replaced_sbrk>,
     .only_if_chained = true},
    {"shmat", UCM_EVENT_SHMAT | both, code_of<replaced_shmat>},
    {"shmdt", UCM_EVENT_SHMDT | UCM_EVENT_VM_UNMAPPED, code_of<replaced_shmdt>},
    {.name = "syscall",
     .events = 0,
     .replacement = syscall_entry,
     .find = find_syscall_entry,
     .on_found = continue_syscall},
};

constexpr int detectable = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP |
                           UCM_EVENT_MADVISE | UCM_EVENT_BRK | UCM_EVENT_SHMAT | UCM_EVENT_SHMDT |
                           both;

constinit replaced_library the_library{"libc.so.6", functions, detectable};

}  // namespace

long replaced_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
    if (is_passed(number, a)) return kernel_call(number, a, b, c, d, e, f);
    // Such a call may come from another library's replacement that has overwritten ours.
    libc().repair();
    const auto pointer = [](long value) { return reinterpret_cast<void*>(value); };
    const auto size = [](long value) { return static_cast<std::size_t>(value); };
    const auto number_of = [](long value) { return static_cast<int>(value); };
    switch (number) {
        case SYS_mmap:
            return as_argument(reported::mmap(ucm_orig_mmap, pointer(a), size(b), number_of(c),
                                              number_of(d), number_of(e), f));
        case SYS_munmap:
            return reported::munmap(ucm_orig_munmap, pointer(a), size(b));
        case SYS_mremap:
            return as_argument(reported::mremap(ucm_orig_mremap, pointer(a), size(b), size(c),
                                                number_of(d), pointer(e)));
        case SYS_madvise:
            return reported::madvise(ucm_orig_madvise, pointer(a), size(b), number_of(c));
        case SYS_shmat:
            return as_argument(
                reported::shmat(ucm_orig_shmat, number_of(a), pointer(b), number_of(c)));
        case SYS_shmdt:
            return reported::shmdt(ucm_orig_shmdt, pointer(a));
        case SYS_brk:
            return syscall_brk(a);
        default:
            return kernel_call(number, a, b, c, d, e, f);
    }
}

replaced_library& libc() noexcept {
    return the_library;
}

}  // namespace ucm::hook
