// System calls that nobody can get between.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ucm {

// The C library's syscall(), without the C library where that is known how: other code may have
// replaced the function, this library itself to begin with. -1 and errno, like the original.
inline long kernel_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) noexcept {
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    constexpr unsigned long errors = 4095;  // the highest values are negative error numbers
    if (static_cast<unsigned long>(result) >= -errors) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
#else
    return syscall(number, a, b, c, d, e, f);
#endif
}

inline long as_argument(const void* address) noexcept {
    return reinterpret_cast<long>(address);
}

inline long as_argument(unsigned long size) noexcept {
    return static_cast<long>(size);
}

}  // namespace ucm
