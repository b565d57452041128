// The positions of jumps in the code of real C libraries.
#include "ucm/hook/entry.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "ucm/hook/patch.hpp"
#include "ucm/hook/trampoline.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

// Code at an address that is a multiple of 16, as functions are.
class function {
public:
    explicit function(const bytes& code) {
        std::memset(code_.data(), 0xcc, code_.size());
        std::memcpy(code_.data(), code.data(), code.size());
    }
    [[nodiscard]] std::uint8_t* begin() { return code_.data(); }

    // Offset of the jump; -1 if there is none.
    [[nodiscard]] long offset_of(const ucm::hook::entry& found) const {
        return found.address == nullptr ? -1 : found.address - code_.data();
    }

private:
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
    function munmap(munmap_code);
    CHECK(munmap.offset_of(find_entry(munmap.begin())) == 0);
    function mmap(mmap_code);
    CHECK(mmap.offset_of(find_entry(mmap.begin())) == 3);
    function mremap(mremap_code);
    CHECK(mremap.offset_of(find_entry(mremap.begin())) == 4);
    CHECK(find_entry(mremap.begin()).stack == 0x58);
}

TEST_CASE("the mark of a branch target is kept") {
    function munmap(branch_mark + munmap_code);
    CHECK(munmap.offset_of(find_entry(munmap.begin())) == 4);
    function mmap(branch_mark + mmap_code);
    CHECK(mmap.offset_of(find_entry(mmap.begin())) == 7);
}

TEST_CASE("code with unknown instructions is not changed") {
    function sbrk(sbrk_code);  // begins by saving a register of the caller
    CHECK(sbrk.offset_of(find_entry(sbrk.begin())) == -1);
    function nonsense({0x0f, 0x0b});
    CHECK(nonsense.offset_of(find_entry(nonsense.begin())) == -1);
    // The jump would not lie within 16 bytes, which are written at once.
    function late(branch_mark + bytes{0x41, 0x89, 0xca, 0x41, 0x89, 0xca, 0x41, 0x89, 0xca} +
                  munmap_code);
    CHECK(late.offset_of(find_entry(late.begin())) == -1);
}

TEST_CASE("jumps of other libraries are recognized") {
    const auto target_of = [](const bytes& code) {
        function one(code);
        const entry found = find_entry(one.begin());
        CHECK(one.offset_of(found) == 0);
        return static_cast<const std::uint8_t*>(found.existing_target) - one.begin();
    };
    CHECK(target_of({0xe9, 0x10, 0, 0, 0}) == 0x15);
    const auto absolute = [](const bytes& code) {
        function one(code);
        return reinterpret_cast<std::uintptr_t>(find_entry(one.begin()).existing_target);
    };
    const bytes address{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    CHECK(absolute(bytes{0x48, 0xb8} + address + bytes{0xff, 0xe0}) == 0x1122334455667788);
    CHECK(absolute(bytes{0x49, 0xbb} + address + bytes{0x41, 0xff, 0xe3}) == 0x1122334455667788);
    CHECK(absolute(bytes{0xff, 0x25, 0, 0, 0, 0} + address) == 0x1122334455667788);
    CHECK(absolute(munmap_code) == 0);
}

TEST_CASE("the jump in syscall lies behind the instructions that move its arguments") {
    function plain(syscall_code);
    CHECK(plain.offset_of(find_syscall_entry(plain.begin())) == 18);
    function marked(branch_mark + syscall_code);
    CHECK(marked.offset_of(find_syscall_entry(marked.begin())) == 22);
    function other(munmap_code);
    CHECK(other.offset_of(find_syscall_entry(other.begin())) == -1);
}

TEST_CASE("a jump through a trampoline arrives") {
    struct code {
        __attribute__((noinline)) static int one() {
            __asm__ volatile("");
            return 1;
        }
    };
    trampoline_page page;
    REQUIRE(page.open(reinterpret_cast<const void*>(&code::one)));
    const void* trampoline = page.add_jump(0, reinterpret_cast<const void*>(&code::one));
    REQUIRE(trampoline != nullptr);
    int count = 1;
    while (page.add_jump(8, trampoline) != nullptr)
        ++count;
    CHECK(count > 64);
    REQUIRE(page.close());
    CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(trampoline))() == 1);
}
