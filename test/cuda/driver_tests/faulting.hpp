// Finds out whether the processor can access an address.
#pragma once

#include <setjmp.h>
#include <signal.h>

#include "test/cuda/driver/functions.hpp"

namespace standin {

namespace detail {

inline thread_local sigjmp_buf fault_place;

inline void on_fault(int) {
    siglongjmp(fault_place, 1);
}

}  // namespace detail

// Returns true if the processor cannot read the address. One thread at a time.
__attribute__((no_sanitize("address", "thread", "undefined"))) inline bool faults(
    CUdeviceptr address) {
    struct sigaction caught {};
    struct sigaction before {};
    caught.sa_handler = detail::on_fault;
    ::sigaction(SIGSEGV, &caught, &before);
    // volatile: the value must survive siglongjmp
    volatile bool has_faulted = true;
    if (sigsetjmp(detail::fault_place, 1) == 0) {
        static_cast<void>(*reinterpret_cast<volatile char*>(address));
        has_faulted = false;
    }
    ::sigaction(SIGSEGV, &before, nullptr);
    return has_faulted;
}

}  // namespace standin
