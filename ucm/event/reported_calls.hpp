// System calls with their events, for any function that carries them out.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace ucm::reported {

using mmap_function = void* (*)(void*, std::size_t, int, int, int, off_t);
using munmap_function = int (*)(void*, std::size_t);
using mremap_function = void* (*)(void*, std::size_t, std::size_t, int, ...);
using shmat_function = void* (*)(int, const void*, int);
using shmdt_function = int (*)(const void*);
using brk_function = int (*)(void*);
using sbrk_function = void* (*)(std::intptr_t);
using madvise_function = int (*)(void*, std::size_t, int);

// Each function calls handlers before and after `original`, unless a handler has done the work.
// Results and errno are those of the original. Any thread, also inside allocators.
void* mmap(mmap_function original, void* addr, std::size_t length, int prot, int flags, int fd,
           off_t offset) noexcept;
int munmap(munmap_function original, void* addr, std::size_t length) noexcept;
void* mremap(mremap_function original, void* old_address, std::size_t old_size,
             std::size_t new_size, int flags, void* new_address) noexcept;
void* shmat(shmat_function original, int shmid, const void* shmaddr, int shmflg) noexcept;
int shmdt(shmdt_function original, const void* shmaddr) noexcept;
int brk(brk_function original, void* addr) noexcept;
void* sbrk(sbrk_function original, std::intptr_t increment) noexcept;
int madvise(madvise_function original, void* addr, std::size_t length, int advice) noexcept;

}  // namespace ucm::reported
