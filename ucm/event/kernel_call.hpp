// System calls that cannot be intercepted.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ucm {

// Like the C library's syscall(), but where the processor's convention is known, without calling
// the C library, whose functions this library or others may have replaced. Returns -1 and sets
// errno like the original.
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
