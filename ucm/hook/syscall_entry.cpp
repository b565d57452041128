#include "ucm/hook/syscall_entry.hpp"

#include <sys/syscall.h>

namespace ucm::hook {

#if defined(__x86_64__)

extern "C" {
__attribute__((visibility("hidden"))) const void* hawser_ucm_rest_of_syscall = nullptr;
__attribute__((visibility("hidden"))) extern const char hawser_ucm_syscall_entry[];
__attribute__((visibility("hidden"), used)) long hawser_ucm_replaced_syscall(long number, long a,
                                                                             long b, long c, long d,
                                                                             long e, long f) {
    return replaced_syscall(number, a, b, c, d, e, f);
}
}

// On entry: rax has the number; rdi, rsi, rdx, r10 and r8 have arguments; the sixth argument is on
// the stack above the return address.
__asm__(R"(
    .pushsection .text
    .hidden hawser_ucm_syscall_entry
    .globl hawser_ucm_syscall_entry
    .type hawser_ucm_syscall_entry, @function
hawser_ucm_syscall_entry:
    .cfi_startproc
    movq 8(%rsp), %r9
    cmpq $9, %rax           # mmap
    je 1f
    cmpq $11, %rax          # munmap
    je 1f
    cmpq $12, %rax          # brk
    je 1f
    cmpq $25, %rax          # mremap
    je 1f
    cmpq $28, %rax          # madvise
    je 1f
    cmpq $30, %rax          # shmat
    je 1f
    cmpq $67, %rax          # shmdt
    je 1f
    jmpq *hawser_ucm_rest_of_syscall(%rip)
1:
    pushq %r9
    .cfi_adjust_cfa_offset 8
    movq %r8, %r9
    movq %r10, %r8
    movq %rdx, %rcx
    movq %rsi, %rdx
    movq %rdi, %rsi
    movq %rax, %rdi
    call hawser_ucm_replaced_syscall
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size hawser_ucm_syscall_entry, .-hawser_ucm_syscall_entry
    .popsection
)");

static_assert(SYS_mmap == 9 && SYS_munmap == 11 && SYS_brk == 12 && SYS_mremap == 25 &&
              SYS_madvise == 28 && SYS_shmat == 30 && SYS_shmdt == 67);

const void* syscall_entry() noexcept {
    return hawser_ucm_syscall_entry;
}

void set_rest_of_syscall(const void* code) noexcept {
    hawser_ucm_rest_of_syscall = code;
}

#else

const void* syscall_entry() noexcept {
    return nullptr;
}

void set_rest_of_syscall(const void*) noexcept {}

#endif

}  // namespace ucm::hook
