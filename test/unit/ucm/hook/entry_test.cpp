// Where a jump is put, in the code of C libraries as they are.
#include "ucm/hook/entry.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "ucm/hook/island.hpp"
#include "ucm/hook/patch.hpp"

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

    // Where the jump goes, -1: nowhere.
    [[nodiscard]] long place_of(const ucm::hook::entry& found) const {
        return found.place == nullptr ? -1 : found.place - code_.data();
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
    CHECK(munmap.place_of(find_entry(munmap.begin())) == 0);
    function mmap(mmap_code);
    CHECK(mmap.place_of(find_entry(mmap.begin())) == 3);
    function mremap(mremap_code);
    CHECK(mremap.place_of(find_entry(mremap.begin())) == 4);
    CHECK(find_entry(mremap.begin()).stack == 0x58);
}

TEST_CASE("the mark of a branch target stays") {
    function munmap(branch_mark + munmap_code);
    CHECK(munmap.place_of(find_entry(munmap.begin())) == 4);
    function mmap(branch_mark + mmap_code);
    CHECK(mmap.place_of(find_entry(mmap.begin())) == 7);
}

TEST_CASE("code that is not understood stays as it is") {
    function sbrk(sbrk_code);  // a register that the caller keeps is saved first
    CHECK(sbrk.place_of(find_entry(sbrk.begin())) == -1);
    function nonsense({0x0f, 0x0b});
    CHECK(nonsense.place_of(find_entry(nonsense.begin())) == -1);
    // Not within 16 bytes that are written at once.
    function late(branch_mark + bytes{0x41, 0x89, 0xca, 0x41, 0x89, 0xca, 0x41, 0x89, 0xca} +
                  munmap_code);
    CHECK(late.place_of(find_entry(late.begin())) == -1);
}

TEST_CASE("jumps of other libraries are recognized") {
    const auto target_of = [](const bytes& code) {
        function one(code);
        const entry found = find_entry(one.begin());
        CHECK(one.place_of(found) == 0);
        return static_cast<const std::uint8_t*>(found.already_there) - one.begin();
    };
    CHECK(target_of({0xe9, 0x10, 0, 0, 0}) == 0x15);
    const auto absolute = [](const bytes& code) {
        function one(code);
        return reinterpret_cast<std::uintptr_t>(find_entry(one.begin()).already_there);
    };
    const bytes address{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    CHECK(absolute(bytes{0x48, 0xb8} + address + bytes{0xff, 0xe0}) == 0x1122334455667788);
    CHECK(absolute(bytes{0x49, 0xbb} + address + bytes{0x41, 0xff, 0xe3}) == 0x1122334455667788);
    CHECK(absolute(bytes{0xff, 0x25, 0, 0, 0, 0} + address) == 0x1122334455667788);
    CHECK(absolute(munmap_code) == 0);
}

TEST_CASE("syscall is replaced behind the shuffling of its arguments, and only there") {
    function plain(syscall_code);
    CHECK(plain.place_of(find_syscall_entry(plain.begin())) == 18);
    function marked(branch_mark + syscall_code);
    CHECK(marked.place_of(find_syscall_entry(marked.begin())) == 22);
    function other(munmap_code);
    CHECK(other.place_of(find_syscall_entry(other.begin())) == -1);
}

TEST_CASE("a jump by way of an island arrives") {
    struct code {
        __attribute__((noinline)) static int one() {
            __asm__ volatile("");
            return 1;
        }
    };
    island ways;
    REQUIRE(ways.open(reinterpret_cast<const void*>(&code::one)));
    const void* way = ways.add_jump(0, reinterpret_cast<const void*>(&code::one));
    REQUIRE(way != nullptr);
    int added = 1;
    while (ways.add_jump(8, way) != nullptr)
        ++added;
    CHECK(added > 64);
    REQUIRE(ways.close());
    CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(way))() == 1);
}
