// The positions of jumps in the code of real C libraries.
#include "ucm/hook/entry.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

namespace {

using bytes = std::vector<std::uint8_t>;

// Code at an address that is a multiple of 16, as functions are.
class function {
public:
    explicit function(const bytes& code) : size_(code.size()) {
        std::memset(code_.data(), 0xcc, code_.size());
        std::memcpy(code_.data(), code.data(), code.size());
    }
    [[nodiscard]] std::uint8_t* begin() { return code_.data(); }

    [[nodiscard]] ucm::hook::entry entry() { return ucm::hook::find_entry(begin(), size_); }
    [[nodiscard]] ucm::hook::entry syscall_entry() {
        return ucm::hook::find_syscall_entry(begin(), size_);
    }

    // Offset of the jump; -1 if there is none.
    [[nodiscard]] long offset_of(const ucm::hook::entry& found) const {
        return found.address == nullptr ? -1 : found.address - code_.data();
    }
    [[nodiscard]] long offset() { return offset_of(entry()); }
    [[nodiscard]] bytes undo() {
        const ucm::hook::entry found = entry();
        return {found.undo.begin(), found.undo.begin() + found.undo.size()};
    }

private:
    std::size_t size_;
    alignas(16) std::array<std::uint8_t, 64> code_;
};

bytes operator+(bytes first, const bytes& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

const bytes branch_mark{0xf3, 0x0f, 0x1e, 0xfa};
const bytes munmap_code{0xb8, 0x0b, 0, 0, 0, 0x0f, 0x05};
const bytes mmap_code{0x41, 0x89, 0xca, 0x41, 0xf7, 0xc1, 0xff, 0x0f, 0, 0, 0x75, 0x14};
const bytes mremap_code{0x48, 0x83, 0xec, 0x58, 0x4c, 0x89, 0x44, 0x24, 0x40};
const bytes sbrk_code{0x41, 0x54, 0x4c, 0x8b, 0x25, 0xa7, 0x51, 0x0d, 0};
const bytes syscall_code{0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6,
                         0x48, 0x89, 0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8,
                         0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05};

}  // namespace

using namespace ucm::hook;

TEST_CASE("a jump replaces the first instruction that is long enough") {
    CHECK(function(munmap_code).offset() == 0);
    CHECK(function(mmap_code).offset() == 3);
    CHECK(function(mremap_code).offset() == 4);
    CHECK(function(sbrk_code).offset() == 2);
}

TEST_CASE("what the function did before the jump is undone") {
    CHECK(function(munmap_code).undo().empty());
    CHECK(function(mmap_code).undo().empty());
    CHECK(function(mremap_code).undo() == bytes{0x48, 0x81, 0xc4, 0x58, 0, 0, 0});
    CHECK(function(sbrk_code).undo() == bytes{0x41, 0x5c});
    function saving({0x55, 0x48, 0x89, 0xe5,                // push %rbp; mov %rsp,%rbp
                     0x41, 0x57, 0x53,                      // push %r15; push %rbx
                     0x48, 0x83, 0xc4, 0x80,                // add $-128,%rsp
                     0x89, 0xfb, 0x66, 0x90, 0x90,          // mov %edi,%ebx; two nops
                     0xc7, 0x45, 0xd0, 0xe7, 0x03, 0, 0});  // movl $999,-48(%rbp)
    CHECK(saving.offset() == 16);
    CHECK(saving.undo() == bytes{0x48, 0x81, 0xc4, 0x80, 0, 0, 0, 0x5b, 0x41, 0x5f, 0x5d});
}

TEST_CASE("the mark of a branch target is kept") {
    CHECK(function(branch_mark + munmap_code).offset() == 4);
    CHECK(function(branch_mark + mmap_code).offset() == 7);
}

TEST_CASE("code whose effect cannot be undone is not changed") {
    const auto is_refused = [](const bytes& before) {
        return function(before + munmap_code).offset() == -1;
    };
    CHECK(function({0x0f, 0x0b}).offset() == -1);
    CHECK(is_refused({0x06}));                          // no instruction
    CHECK(is_refused({0x90, 0xe8, 0, 0, 0, 0}));        // calls another function
    CHECK(is_refused({0x89, 0xf7}));                    // mov %esi,%edi changes an argument
    CHECK(is_refused({0x89, 0xc3}));                    // mov %eax,%ebx without a saved %rbx
    CHECK(is_refused({0x48, 0x89, 0x04, 0x24}));        // writes over the return address
    CHECK(is_refused({0x55, 0x48, 0x89, 0x45, 0xf0}));  // writes below an unknown address
    CHECK(is_refused({0x48, 0x83, 0xe4, 0xf0}));        // and $-16,%rsp
    CHECK(is_refused({0x74, 0x00}));                    // branches
    CHECK(is_refused({0xc3}));                          // returns
    CHECK_FALSE(is_refused({0x53, 0x89, 0xc3}));
    // The jump would not lie within 16 bytes, which are written at once, and a system call follows.
    const bytes copy{0x41, 0x89, 0xca};
    CHECK(function(branch_mark + copy + copy + copy + munmap_code).offset() == -1);
}

TEST_CASE("an instruction to which the function branches is not replaced") {
    const bytes load{0x8b, 0x05, 0, 0, 0, 0};  // mov 0(%rip),%eax
    const bytes test{0x85, 0xc0};
    CHECK(function(load + test + bytes{0x75, 0xfe}).offset() == 0);
    CHECK(function(bytes{0x90} + load + test + bytes{0x75, 0xf6}).offset() == -1);
    CHECK(
        function(bytes{0x90} + load + test + bytes{0x0f, 0x85, 0xf2, 0xff, 0xff, 0xff}).offset() ==
        -1);
    // The function begins again.
    CHECK(function(bytes{0x90} + load + test + bytes{0x75, 0xf5}).offset() == 1);
}

TEST_CASE("jumps of other libraries are recognized") {
    const auto target_of = [](const bytes& code) {
        function one(code);
        const entry found = one.entry();
        CHECK(one.offset_of(found) == 0);
        return static_cast<const std::uint8_t*>(found.existing_target) - one.begin();
    };
    CHECK(target_of({0xe9, 0x10, 0, 0, 0}) == 0x15);
    const auto absolute = [](const bytes& code) {
        return reinterpret_cast<std::uintptr_t>(function(code).entry().existing_target);
    };
    const bytes address{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    CHECK(absolute(bytes{0x48, 0xb8} + address + bytes{0xff, 0xe0}) == 0x1122334455667788);
    CHECK(absolute(bytes{0x49, 0xbb} + address + bytes{0x41, 0xff, 0xe3}) == 0x1122334455667788);
    CHECK(absolute(bytes{0xff, 0x25, 0, 0, 0, 0} + address) == 0x1122334455667788);
    CHECK(absolute(munmap_code) == 0);

    CHECK(begins_with_jump(function({0xe9, 0x10, 0, 0, 0}).begin()));
    CHECK(begins_with_jump(function(branch_mark + bytes{0xe9, 0x10, 0, 0, 0}).begin()));
    CHECK_FALSE(begins_with_jump(function(sbrk_code).begin()));
}

TEST_CASE("the jump in syscall lies behind the instructions that move its arguments") {
    function plain(syscall_code);
    CHECK(plain.offset_of(plain.syscall_entry()) == 18);
    function marked(branch_mark + syscall_code);
    CHECK(marked.offset_of(marked.syscall_entry()) == 22);
    function other(munmap_code);
    CHECK(other.offset_of(other.syscall_entry()) == -1);
}
