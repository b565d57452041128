#include "ucm/hook/replacements.hpp"

#include <dlfcn.h>

#include <cstdarg>
#include <cstring>
#include <type_traits>

#include "ucm/api/ucm.h"
#include "ucm/event/kernel_call.hpp"
#include "ucm/event/reported_calls.hpp"
#include "ucm/hook/install.hpp"
#include "ucm/hook/syscall_entry.hpp"

namespace ucm::hook {
namespace {

// Replacements of other libraries; null: none.
struct {
    reported::mmap_function mmap;
    reported::munmap_function munmap;
    reported::mremap_function mremap;
    reported::madvise_function madvise;
    reported::brk_function brk;
    reported::sbrk_function sbrk;
    reported::shmat_function shmat;
    reported::shmdt_function shmdt;
} constinit chained{};

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

template<class Function>
Function load(const Function& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

void* pass_mmap(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
    return pass_on(SYS_mmap, as_argument(addr),
                   [=] { return load(chained.mmap)(addr, length, prot, flags, fd, offset); });
}

int pass_munmap(void* addr, std::size_t length) {
    return pass_on(SYS_munmap, as_argument(addr),
                   [=] { return load(chained.munmap)(addr, length); });
}

void* pass_mremap(void* old_address, std::size_t old_size, std::size_t new_size, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* new_address = va_arg(rest, void*);  // reported::mremap always passes it
    va_end(rest);
    return pass_on(SYS_mremap, as_argument(old_address), [=] {
        return load(chained.mremap)(old_address, old_size, new_size, flags, new_address);
    });
}

int pass_madvise(void* addr, std::size_t length, int advice) {
    return pass_on(SYS_madvise, as_argument(addr),
                   [=] { return load(chained.madvise)(addr, length, advice); });
}

int pass_brk(void* addr) {
    return pass_on(SYS_brk, as_argument(addr), [=] { return load(chained.brk)(addr); });
}

void* pass_sbrk(std::intptr_t increment) {
    return pass_on(sbrk_call, increment, [=] { return load(chained.sbrk)(increment); });
}

void* pass_shmat(int shmid, const void* shmaddr, int shmflg) {
    return pass_on(SYS_shmat, shmid, [=] { return load(chained.shmat)(shmid, shmaddr, shmflg); });
}

int pass_shmdt(const void* shmaddr) {
    return pass_on(SYS_shmdt, as_argument(shmaddr), [=] { return load(chained.shmdt)(shmaddr); });
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
Function original(const Function& chained_function, Function pass, Function direct) noexcept {
    return load(chained_function) != nullptr ? pass : direct;
}

void* replaced_mmap(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
    if (is_passed(SYS_mmap, as_argument(addr))) {
        return ucm_orig_mmap(addr, length, prot, flags, fd, offset);
    }
    return reported::mmap(original(chained.mmap, pass_mmap, ucm_orig_mmap), addr, length, prot,
                          flags, fd, offset);
}

int replaced_munmap(void* addr, std::size_t length) {
    if (is_excluded_caller(__builtin_return_address(0))) return ucm_orig_munmap(addr, length);
    if (is_passed(SYS_munmap, as_argument(addr))) return ucm_orig_munmap(addr, length);
    return reported::munmap(original(chained.munmap, pass_munmap, ucm_orig_munmap), addr, length);
}

// If the caller has not passed the last argument, its register holds an arbitrary value.
void* replaced_mremap(void* old_address, std::size_t old_size, std::size_t new_size, int flags,
                      void* new_address) {
    if (is_passed(SYS_mremap, as_argument(old_address))) {
        return ucm_orig_mremap(old_address, old_size, new_size, flags, new_address);
    }
    return reported::mremap(original(chained.mremap, pass_mremap, ucm_orig_mremap), old_address,
                            old_size, new_size, flags, new_address);
}

int replaced_madvise(void* addr, std::size_t length, int advice) {
    if (is_excluded_caller(__builtin_return_address(0)))
        return ucm_orig_madvise(addr, length, advice);
    if (is_passed(SYS_madvise, as_argument(addr))) return ucm_orig_madvise(addr, length, advice);
    return reported::madvise(original(chained.madvise, pass_madvise, ucm_orig_madvise), addr,
                             length, advice);
}

int replaced_brk(void* addr) {
    if (is_passed(SYS_brk, as_argument(addr))) return ucm_orig_brk(addr);
    return reported::brk(original(chained.brk, pass_brk, ucm_orig_brk), addr);
}

void* replaced_sbrk(std::intptr_t increment) {
    if (is_passed(sbrk_call, increment)) return ucm_orig_sbrk(increment);
    return reported::sbrk(original(chained.sbrk, pass_sbrk, ucm_orig_sbrk), increment);
}

void* replaced_shmat(int shmid, const void* shmaddr, int shmflg) {
    if (is_passed(SYS_shmat, shmid)) return ucm_orig_shmat(shmid, shmaddr, shmflg);
    return reported::shmat(original(chained.shmat, pass_shmat, ucm_orig_shmat), shmid, shmaddr,
                           shmflg);
}

int replaced_shmdt(const void* shmaddr) {
    if (is_passed(SYS_shmdt, as_argument(shmaddr))) return ucm_orig_shmdt(shmaddr);
    return reported::shmdt(original(chained.shmdt, pass_shmdt, ucm_orig_shmdt), shmaddr);
}

// SYS_brk returns the break, not whether it moved.
long syscall_brk(long addr) noexcept {
    const auto function = [](void* wanted) {
        return static_cast<int>(kernel_call(SYS_brk, as_argument(wanted)) != as_argument(wanted));
    };
    reported::brk(function, reinterpret_cast<void*>(addr));
    return kernel_call(SYS_brk);
}

}  // namespace

long replaced_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
    if (is_passed(number, a)) return kernel_call(number, a, b, c, d, e, f);
    // Such a call may come from another library's replacement that has overwritten ours.
    repair();
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

const void* replacement_of(function id) noexcept {
    switch (id) {
        case function::mmap:
            return reinterpret_cast<const void*>(replaced_mmap);
        case function::munmap:
            return reinterpret_cast<const void*>(replaced_munmap);
        case function::mremap:
            return reinterpret_cast<const void*>(replaced_mremap);
        case function::madvise:
            return reinterpret_cast<const void*>(replaced_madvise);
        case function::brk:
            return reinterpret_cast<const void*>(replaced_brk);
        case function::sbrk:
            return reinterpret_cast<const void*>(replaced_sbrk);
        case function::shmat:
            return reinterpret_cast<const void*>(replaced_shmat);
        case function::shmdt:
            return reinterpret_cast<const void*>(replaced_shmdt);
        case function::syscall:
            return syscall_entry();
    }
    return nullptr;
}

void chain(function id, const void* original) noexcept {
    const auto set = [original](auto& slot) {
        using type = std::remove_reference_t<decltype(slot)>;
        __atomic_store_n(&slot, reinterpret_cast<type>(reinterpret_cast<std::uintptr_t>(original)),
                         __ATOMIC_RELEASE);
    };
    switch (id) {
        case function::mmap:
            return set(chained.mmap);
        case function::munmap:
            return set(chained.munmap);
        case function::mremap:
            return set(chained.mremap);
        case function::madvise:
            return set(chained.madvise);
        case function::brk:
            return set(chained.brk);
        case function::sbrk:
            return set(chained.sbrk);
        case function::shmat:
            return set(chained.shmat);
        case function::shmdt:
            return set(chained.shmdt);
        case function::syscall:
            return;
    }
}

}  // namespace ucm::hook
