/* A libcuda.so.1 for the tests of libucm. It counts allocations and hands out numbers as addresses.
 * Its functions begin in the ways in which those of real drivers do, and in ways that are hard to
 * replace. With UNKNOWN_FREE, cuMemFree_v2 begins in a way in which it cannot be replaced. */
#include "test/unit/ucm/cuda/fake_driver.h"

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
#define CALLED_BY_ASSEMBLY __attribute__((used)) static

typedef unsigned long long address_t;

enum { most = 256, out_of_memory = 2, invalid_value = 1, is_managed_attribute = 8 };

struct allocation {
    address_t address;
    size_t size;
    unsigned char is_managed;
};

/* A handle of another process's memory. */
struct handle {
    size_t size;
    char reserved[48];
    address_t last;
};

static struct allocation live[most];
static address_t next_address = 0x700000000000;
static int lock;

static struct fake_driver_state state;

EXPORTED struct fake_driver_state* fake_driver(void);

struct fake_driver_state* fake_driver(void) {
    return &state;
}

static void acquire(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
}

static void enter(void) {
    acquire();
    ++state.calls;
}

static int leave(int result) {
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return result;
}

static void note(address_t arguments) {
    __atomic_store_n(&state.arguments, arguments, __ATOMIC_RELAXED);
}

static int add(address_t* address, size_t size, unsigned char is_managed) {
    enter();
    for (int i = 0; i < most && !state.is_full; ++i) {
        if (live[i].size != 0) continue;
        *address = next_address;
        next_address += (size + 0xffff) & ~(address_t)0xffff;
        live[i] = (struct allocation){*address, size, is_managed};
        return leave(0);
    }
    return leave(out_of_memory);
}

static int drop(address_t address) {
    enter();
    for (int i = 0; i < most; ++i) {
        if (live[i].size == 0 || live[i].address != address) continue;
        live[i].size = 0;
        return leave(0);
    }
    return leave(invalid_value);
}

CALLED_BY_ASSEMBLY int alloc(address_t* address, size_t size) {
    return add(address, size, 0);
}

CALLED_BY_ASSEMBLY int alloc_pitch(address_t* address, size_t* pitch, size_t width, size_t height,
                                   unsigned element_size) {
    *pitch = (width + 511) & ~(size_t)511;
    note(element_size);
    return add(address, *pitch * height, 0);
}

CALLED_BY_ASSEMBLY int alloc_managed(address_t* address, size_t size, unsigned flags) {
    note(flags);
    return add(address, size, 1);
}

CALLED_BY_ASSEMBLY int alloc_async(address_t* address, size_t size, void* stream) {
    note((uintptr_t)stream);
    return add(address, size, 0);
}

CALLED_BY_ASSEMBLY int alloc_from_pool(address_t* address, size_t size, void* pool, void* stream) {
    note((uintptr_t)pool + (uintptr_t)stream);
    return add(address, size, 0);
}

CALLED_BY_ASSEMBLY int map(address_t address, size_t size, size_t offset, address_t handle,
                           address_t flags) {
    enter();
    note(address + size + offset + handle + flags);
    return leave(0);
}

CALLED_BY_ASSEMBLY int open_handle(address_t* address, struct handle handle, unsigned flags) {
    note(handle.last + flags);
    return add(address, handle.size, 0);
}

CALLED_BY_ASSEMBLY int close_handle(address_t address) {
    return drop(address);
}

CALLED_BY_ASSEMBLY int free_async(address_t address, void* stream) {
    note((uintptr_t)stream);
    return drop(address);
}

CALLED_BY_ASSEMBLY int unmap(address_t address, size_t size) {
    enter();
    note(address + size);
    return leave(0);
}

EXPORTED int cuMemGetAddressRange_v2(address_t* base, size_t* size, address_t address);
EXPORTED int cuPointerGetAttribute(void* value, int attribute, address_t address);

static const struct allocation* find(address_t address) {
    for (int i = 0; i < most; ++i) {
        if (address - live[i].address < live[i].size) return &live[i];
    }
    return NULL;
}

int cuMemGetAddressRange_v2(address_t* base, size_t* size, address_t address) {
    acquire();
    const struct allocation* found = find(address);
    if (found == NULL) return leave(invalid_value);
    *base = found->address;
    *size = found->size;
    return leave(0);
}

int cuPointerGetAttribute(void* value, int attribute, address_t address) {
    acquire();
    const struct allocation* found = find(address);
    if (found == NULL || attribute != is_managed_attribute) return leave(invalid_value);
    *(unsigned char*)value = found->is_managed;
    return leave(0);
}

CALLED_BY_ASSEMBLY void count_binding(void) {
    ++state.bindings;
}

__asm__(
    ".macro entry name\n"
    "    .globl \\name\n"
    "    .type \\name, @function\n"
    "    .p2align 4\n"
    "\\name:\n"
    ".endm\n"
    ".macro finish name\n"
    "    .size \\name, .-\\name\n"
    ".endm\n"

    "    .data\n"
    "    .p2align 3\n"
    "mode:\n"
    "    .quad 0\n"
    "alloc_pointer:\n"
    "    .quad alloc\n"
    "unmap_pointer:\n"
    "    .quad bind_unmap\n"
    "    .text\n"

    /* A dispatcher: its first instruction reads a variable beside it, a short branch follows. */
    "entry cuMemAlloc_v2\n"
    "    cmpl $0x321cba00, mode(%rip)\n"
    "    je 1f\n"
    "    jmp *alloc_pointer(%rip)\n"
    "1:  movl $4, %eax\n"
    "    ret\n"
    "finish cuMemAlloc_v2\n"

    /* A frame pointer, saved registers and a large frame. */
    "entry cuMemAllocPitch_v2\n"
    "    endbr64\n"
    "    pushq %rbp\n"
    "    movq %rsp, %rbp\n"
    "    pushq %r15\n"
    "    movq %rdi, %r15\n"
    "    pushq %rbx\n"
    "    movq %rsi, %rbx\n"
    "    xorl %eax, %eax\n"
    "    subq $0x120, %rsp\n"
    "    movl $0x3e7, -0x40(%rbp)\n"
    "    movq %r15, %rdi\n"
    "    movq %rbx, %rsi\n"
    "    call alloc_pitch\n"
    "    addq $0x120, %rsp\n"
    "    popq %rbx\n"
    "    popq %r15\n"
    "    popq %rbp\n"
    "    ret\n"
    "finish cuMemAllocPitch_v2\n"

    /* The first long instruction reads a flag after the registers were saved. */
    "entry cuMemAllocManaged\n"
    "    pushq %r12\n"
    "    pushq %rbx\n"
    "    movq %rdi, %rbx\n"
    "    subq $0x18, %rsp\n"
    "    movq %rsi, 8(%rsp)\n"
    "    movl mode(%rip), %eax\n"
    "    testl %eax, %eax\n"
    "    jne 1f\n"
    "    movq %rbx, %rdi\n"
    "    movq 8(%rsp), %rsi\n"
    "    call alloc_managed\n"
    "1:  addq $0x18, %rsp\n"
    "    popq %rbx\n"
    "    popq %r12\n"
    "    ret\n"
    "finish cuMemAllocManaged\n"

    /* One function with two names, which only jumps. */
    "entry cuMemAllocAsync\n"
    "    .globl cuMemAllocAsync_ptsz\n"
    "    .type cuMemAllocAsync_ptsz, @function\n"
    "cuMemAllocAsync_ptsz:\n"
    "    .byte 0xe9\n"
    "    .long alloc_async-.-4\n"
    "finish cuMemAllocAsync\n"
    "finish cuMemAllocAsync_ptsz\n"

    /* A stack protector. There is no function for the thread's own default stream. */
    "entry cuMemAllocFromPoolAsync\n"
    "    subq $0x18, %rsp\n"
    "    movq %fs:0x28, %rax\n"
    "    movq %rax, 8(%rsp)\n"
    "    call alloc_from_pool\n"
    "    movq 8(%rsp), %rdx\n"
    "    subq %fs:0x28, %rdx\n"
    "    je 1f\n"
    "    ud2\n"
    "1:  addq $0x18, %rsp\n"
    "    ret\n"
    "finish cuMemAllocFromPoolAsync\n"

    /* A conditional branch by four bytes. */
    "entry cuMemMap\n"
    "    testq %rsi, %rsi\n"
    "    .byte 0x0f, 0x84\n"
    "    .long 1f-.-4\n"
    "    jmp map\n"
    "1:  movl $1, %eax\n"
    "    ret\n"
    "finish cuMemMap\n"

    /* An argument is on the stack. */
    "entry cuIpcOpenMemHandle_v2\n"
    "    pushq %rbx\n"
    "    subq $0x400, %rsp\n"
    "    movq %rdi, %rbx\n"
    "    addq $0x400, %rsp\n"
    "    popq %rbx\n"
    "    jmp open_handle\n"
    "finish cuIpcOpenMemHandle_v2\n"

    "entry cuIpcCloseMemHandle\n"
    "    movl mode(%rip), %eax\n"
    "    jmp close_handle\n"
    "finish cuIpcCloseMemHandle\n"

    /* Frees by calling another function that is replaced. */
    "entry cuMemFree_v2\n"
#ifdef UNKNOWN_FREE
    "    call fake_driver_trace\n"
#endif
    "    pushq %rbx\n"
    "    subq $0x90, %rsp\n"
    "    movq $0, 0x88(%rsp)\n"
    "    xorl %esi, %esi\n"
    "    call cuMemFreeAsync@PLT\n"
    "    addq $0x90, %rsp\n"
    "    popq %rbx\n"
    "    ret\n"
    "finish cuMemFree_v2\n"
    "entry fake_driver_trace\n"
    "    ret\n"
    "finish fake_driver_trace\n"

    "entry cuMemFreeAsync\n"
    "    movl $1, %eax\n"
    "    jmp free_async\n"
    "finish cuMemFreeAsync\n"

    /* The first instruction that is long enough crosses the bytes that are written at once. */
    "entry cuMemFreeAsync_ptsz\n"
    "    pushq %r15\n"
    "    pushq %r14\n"
    "    pushq %r13\n"
    "    pushq %r12\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %rax\n"
    "    nop\n"
    "    leaq mode(%rip), %r12\n"
    "    movq $7, %rbp\n"
    "    call free_async\n"
    "    popq %rcx\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    popq %r12\n"
    "    popq %r13\n"
    "    popq %r14\n"
    "    popq %r15\n"
    "    ret\n"
    "finish cuMemFreeAsync_ptsz\n"

    /* A jump through a pointer that the first call changes. */
    "entry cuMemUnmap\n"
    "    jmp *unmap_pointer(%rip)\n"
    "finish cuMemUnmap\n"
    "bind_unmap:\n"
    "    leaq unmap(%rip), %rax\n"
    "    movq %rax, unmap_pointer(%rip)\n"
    "    pushq %rdi\n"
    "    pushq %rsi\n"
    "    pushq %rax\n"
    "    call count_binding\n"
    "    popq %rax\n"
    "    popq %rsi\n"
    "    popq %rdi\n"
    "    jmp unmap\n");
