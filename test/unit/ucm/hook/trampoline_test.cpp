// Trampolines and gates, made from functions of this program and called.
#include "ucm/hook/trampoline.hpp"

#include <catch2/catch.hpp>

using namespace ucm::hook;

namespace {

using binary = int (*)(int, int);

// Functions that return 10 a + b. Each one begins with instructions that are hard to move.
extern "C" {
int plain_sum(int a, int b);
int loading_sum(int a, int b);
int branching_sum(int a, int b);
int jumping_sum(int a, int b);
int saving_sum(int a, int b);
int calling_sum(int a, int b);
}
__asm__(R"(
    .data
sum_mode: .quad 0
sum_pointer: .quad plain_sum
    .text
    .p2align 4
plain_sum:
    leal (%rdi,%rdi,4), %eax
    leal (%rsi,%rax,2), %eax
    ret
    .p2align 4
loading_sum:
    cmpl $0x500, sum_mode(%rip)
    je 1f
    jmp *sum_pointer(%rip)
1:  ud2
    .p2align 4
branching_sum:
    testq %rsp, %rsp
    .byte 0x0f, 0x84
    .long 1f-.-4
    movl $10, %eax
    imull %edi, %eax
    addl %esi, %eax
    ret
1:  ud2
    .p2align 4
jumping_sum:
    .byte 0xe9
    .long saving_sum-.-4
    .p2align 4
saving_sum:
    pushq %r14
    pushq %rbp
    movq %rsp, %rbp
    movl %edi, %r14d
    subq $0x110, %rsp
    movl %esi, -8(%rbp)
    leal (%r14,%r14,4), %eax
    addl %eax, %eax
    addl -8(%rbp), %eax
    addq $0x110, %rsp
    popq %rbp
    popq %r14
    ret
    .p2align 4
calling_sum:
    call plain_sum
    ret
)");

std::uint8_t* code_at(binary function) {
    return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(function));
}

binary function_at(const void* code) {
    return reinterpret_cast<binary>(reinterpret_cast<std::uintptr_t>(code));
}

// An entry at an offset of a function.
entry entry_at(binary function, std::size_t offset) {
    return {code_at(function) + offset, code_at(function), {}, nullptr};
}

}  // namespace

TEST_CASE("a jump through a trampoline arrives") {
    trampoline_page page;
    REQUIRE(page.open(code_at(plain_sum)));
    const void* trampoline = page.add_jump({}, code_at(plain_sum));
    REQUIRE(trampoline != nullptr);
    undo_code undo;
    const std::uint8_t nop[] = {0x90};
    CHECK(undo.prepend(nop, sizeof(nop)));
    int count = 1;
    while (page.add_jump(undo, trampoline) != nullptr)
        ++count;
    CHECK(count > 64);
    CHECK(page.add_gate(entry_at(plain_sum, 0)) == nullptr);
    REQUIRE(page.close());
    CHECK(function_at(trampoline)(4, 2) == 42);
}

TEST_CASE("a gate has the effect of its function") {
    for (const binary function : {plain_sum, loading_sum, branching_sum, jumping_sum, saving_sum}) {
        trampoline_page page;
        REQUIRE(page.open(code_at(function)));
        const void* const gate = page.add_gate(entry_at(function, 0));
        const void* const second = page.add_gate(entry_at(function, 0));
        REQUIRE(gate != nullptr);
        REQUIRE(second != nullptr);
        REQUIRE(page.close());
        CHECK(function_at(gate)(4, 2) == 42);
        CHECK(function_at(second)(1, 1) == 11);
    }
}

TEST_CASE("a gate needs no instruction that a jump of another library overwrites") {
    // This function ends within the bytes of such a jump.
    trampoline_page page;
    REQUIRE(page.open(code_at(loading_sum)));
    const void* const gate = page.add_gate(entry_at(loading_sum, 0));
    REQUIRE(gate != nullptr);
    const void* const end = page.add_jump({}, gate);
    // The instructions of 10, 2 and 6 bytes, of which the second is longer there.
    CHECK(static_cast<const char*>(end) - static_cast<const char*>(gate) == 10 + 6 + 6);
}

TEST_CASE("there is no gate for a function whose instructions cannot be moved") {
    trampoline_page page;
    REQUIRE(page.open(code_at(calling_sum)));
    CHECK(page.add_gate(entry_at(calling_sum, 0)) == nullptr);
}

TEST_CASE("code that undoes instructions has a limit") {
    undo_code undo;
    const std::uint8_t pop[] = {0x41, 0x5c};
    int count = 0;
    while (undo.prepend(pop, sizeof(pop)))
        ++count;
    CHECK(count == 16);
    CHECK(undo.size() == 32);
}
