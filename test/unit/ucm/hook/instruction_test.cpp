// Lengths and parts of single instructions.
#include "ucm/hook/instruction.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace ucm::hook;

namespace {

instruction decoded(const std::vector<std::uint8_t>& code) {
    std::array<std::uint8_t, 32> padded{};
    std::copy(code.begin(), code.end(), padded.begin());
    return decode(padded.data());
}

bool has_whole_length(const std::vector<std::uint8_t>& code) {
    return decoded(code).length == code.size();
}

}  // namespace

TEST_CASE("the length of an instruction is known") {
    CHECK(has_whole_length({0x55}));                                         // push %rbp
    CHECK(has_whole_length({0x41, 0x57}));                                   // push %r15
    CHECK(has_whole_length({0xf3, 0x0f, 0x1e, 0xfa}));                       // endbr64
    CHECK(has_whole_length({0x48, 0x89, 0xe5}));                             // mov %rsp,%rbp
    CHECK(has_whole_length({0x48, 0x83, 0xec, 0x18}));                       // sub $24,%rsp
    CHECK(has_whole_length({0x48, 0x81, 0xec, 0x18, 1, 0, 0}));              // sub $280,%rsp
    CHECK(has_whole_length({0x66, 0x81, 0xc3, 0x18, 1}));                    // add $280,%bx
    CHECK(has_whole_length({0x48, 0x8b, 0x44, 0x24, 8}));                    // mov 8(%rsp),%rax
    CHECK(has_whole_length({0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}));           // mov 0,%rax
    CHECK(has_whole_length({0x48, 0x8b, 0x84, 0x24, 0, 1, 0, 0}));           // mov 256(%rsp),%rax
    CHECK(has_whole_length({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}));  // mov %fs:40,%rax
    CHECK(has_whole_length({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}));           // movabs
    CHECK(has_whole_length({0x81, 0x3d, 1, 2, 3, 4, 5, 6, 7, 8}));           // cmpl, relative
    CHECK(has_whole_length({0xf6, 0xc3, 1}));                                // test $1,%bl
    CHECK(has_whole_length({0xf7, 0xd8}));                                   // neg %eax
    CHECK(has_whole_length({0xf7, 0xc3, 1, 2, 3, 4}));                       // test %ebx
    CHECK(has_whole_length({0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}));        // nopw
    CHECK(has_whole_length({0x0f, 0x84, 1, 2, 3, 4}));                       // je
    CHECK(has_whole_length({0x0f, 0x29, 0x44, 0x24, 0x10}));                 // movaps
    CHECK(has_whole_length({0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}));              // palignr
    CHECK(has_whole_length({0xc5, 0xf8, 0x77}));                             // vzeroupper
    CHECK(has_whole_length({0xc5, 0xfe, 0x6f, 0x06}));                       // vmovdqu
    CHECK(has_whole_length({0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}));              // vextracti128
    CHECK(has_whole_length({0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x46, 1}));        // vmovdqu64
    CHECK(has_whole_length({0xc8, 0, 0, 0}) == false);                       // enter: unknown
    CHECK(decoded({0x06}).length == 0);
    CHECK(decoded(std::vector<std::uint8_t>(20, 0x66)).length == 0);
}

TEST_CASE("a displacement from the next instruction is found") {
    const instruction load = decoded({0x4c, 0x8b, 0x25, 0xf0, 0xff, 0xff, 0xff});
    CHECK(load.rip_offset == 3);
    CHECK(load.displacement == -16);
    CHECK(load.reg == 12);
    CHECK_FALSE(load.has_base);
    CHECK(decoded({0x81, 0x3d, 1, 0, 0, 0, 5, 6, 7, 8}).rip_offset == 2);
    CHECK(decoded({0xc5, 0xfe, 0x6f, 0x05, 1, 0, 0, 0}).rip_offset == 4);
    CHECK(decoded({0x8b, 0x04, 0x25, 1, 0, 0, 0}).rip_offset == 0);
    CHECK(decoded({0x8b, 0x45, 1}).rip_offset == 0);
}

TEST_CASE("the operand of an instruction is found") {
    const instruction store = decoded({0x4c, 0x89, 0x7c, 0x24, 0xf8});  // mov %r15,-8(%rsp)
    CHECK(store.is(0x89));
    CHECK(store.base == rsp);
    CHECK(store.reg == 15);
    CHECK(store.displacement == -8);
    CHECK(store.is_wide);
    CHECK_FALSE(store.has_index);
    CHECK_FALSE(store.in_register);
    CHECK(decoded({0x89, 0x04, 0x0c}).has_index);        // mov %eax,(%rsp,%rcx)
    CHECK(decoded({0x42, 0x89, 0x04, 0x24}).has_index);  // mov %eax,(%rsp,%r12)
    const instruction grow = decoded({0x48, 0x83, 0xec, 0xf0});
    CHECK(grow.is(0x83, 5));
    CHECK(grow.in_register);
    CHECK(grow.base == rsp);
    CHECK(grow.immediate == -16);
    CHECK(decoded({0x41, 0x55}).base == 13);      // push %r13
    CHECK_FALSE(decoded({0xf3, 0x90}).is(0x90));  // pause
}

TEST_CASE("the target of a branch is found") {
    const std::array<std::uint8_t, 16> back{0x75, 0xf0};
    CHECK(branch_target(back.data(), decode(back.data())) == back.data() - 14);
    const std::array<std::uint8_t, 16> ahead{0x0f, 0x84, 0, 1, 0, 0};
    CHECK(branch_target(ahead.data(), decode(ahead.data())) == ahead.data() + 262);
}
