// System calls without events: ucm_orig_*.
#include <cstdarg>
#include <cstdint>

#include "ucm/api/ucm.h"
#include "ucm/event/kernel_call.hpp"
#include "ucm/event/mremap_flags.hpp"

// They call the kernel directly, so that replacements of C library functions do not see them.

using ucm::as_argument;
using ucm::kernel_call;

// The C library's record of the program break. It must be updated when the break moves.
extern "C" __attribute__((weak)) void* __curbrk;

void* ucm_orig_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
    return reinterpret_cast<void*>(
        kernel_call(SYS_mmap, as_argument(addr), as_argument(length), prot, flags, fd, offset));
}

int ucm_orig_munmap(void* addr, size_t length) {
    return static_cast<int>(kernel_call(SYS_munmap, as_argument(addr), as_argument(length)));
}

void* ucm_orig_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* const new_address = (flags & ucm::mremap_to_address) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return reinterpret_cast<void*>(kernel_call(SYS_mremap, as_argument(old_address),
                                               as_argument(old_size), as_argument(new_size), flags,
                                               as_argument(new_address)));
}

void* ucm_orig_shmat(int shmid, const void* shmaddr, int shmflg) {
    return reinterpret_cast<void*>(kernel_call(SYS_shmat, shmid, as_argument(shmaddr), shmflg));
}

int ucm_orig_shmdt(const void* shmaddr) {
    return static_cast<int>(kernel_call(SYS_shmdt, as_argument(shmaddr)));
}

int ucm_orig_brk(void* addr) {
    if (&__curbrk == nullptr) return brk(addr);
    void* now = reinterpret_cast<void*>(kernel_call(SYS_brk, as_argument(addr)));
    __curbrk = now;
    if (now >= addr) return 0;
    errno = ENOMEM;
    return -1;
}

void* ucm_orig_sbrk(intptr_t increment) {
    if (&__curbrk == nullptr) return sbrk(increment);
    if (__curbrk == nullptr) ucm_orig_brk(nullptr);
    const auto before = reinterpret_cast<std::uintptr_t>(__curbrk);
    const std::uintptr_t after = before + static_cast<std::uintptr_t>(increment);
    if ((increment > 0) != (after > before) && increment != 0) {
        errno = ENOMEM;
        return reinterpret_cast<void*>(-1);
    }
    if (increment != 0 && ucm_orig_brk(reinterpret_cast<void*>(after)) != 0) {
        return reinterpret_cast<void*>(-1);
    }
    return reinterpret_cast<void*>(before);
}

int ucm_orig_madvise(void* addr, size_t length, int advice) {
    return static_cast<int>(
        kernel_call(SYS_madvise, as_argument(addr), as_argument(length), advice));
}
