// The system calls without events: ucm_orig_*.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>

#include "ucm/api/ucm.h"
#include "ucm/event/mremap_flags.hpp"

// Straight to the kernel, so that nobody who replaced the C library's functions sees them. The
// break is an exception: the C library remembers where it is and must take part.

void* ucm_orig_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
    return reinterpret_cast<void*>(syscall(SYS_mmap, addr, length, prot, flags, fd, offset));
}

int ucm_orig_munmap(void* addr, size_t length) {
    return static_cast<int>(syscall(SYS_munmap, addr, length));
}

void* ucm_orig_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...) {
    void* new_address = nullptr;
    if ((flags & ucm::mremap_to_address) != 0) {
        va_list rest;
        va_start(rest, flags);
        new_address = va_arg(rest, void*);
        va_end(rest);
    }
    return reinterpret_cast<void*>(
        syscall(SYS_mremap, old_address, old_size, new_size, flags, new_address));
}

void* ucm_orig_shmat(int shmid, const void* shmaddr, int shmflg) {
    return reinterpret_cast<void*>(syscall(SYS_shmat, shmid, shmaddr, shmflg));
}

int ucm_orig_shmdt(const void* shmaddr) {
    return static_cast<int>(syscall(SYS_shmdt, shmaddr));
}

void* ucm_orig_sbrk(intptr_t increment) {
    return sbrk(increment);
}

int ucm_orig_brk(void* addr) {
    return brk(addr);
}

int ucm_orig_madvise(void* addr, size_t length, int advice) {
    return static_cast<int>(syscall(SYS_madvise, addr, length, advice));
}
