#include "ucs/arch/copy.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace arch = ucs::arch;

namespace {

using copier = void (*)(void*, const void*, std::size_t) noexcept;

// Copies inside a larger buffer and checks that exactly the wanted bytes changed.
bool exact(copier copy, std::size_t size, std::size_t to, std::size_t from, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<unsigned char> source(size + from + 1);
    for (auto& byte : source)
        byte = static_cast<unsigned char>(random());
    std::vector<unsigned char> target(size + to + 64, 0xee);
    std::vector<unsigned char> expected = target;
    for (std::size_t i = 0; i < size; ++i)
        expected[to + i] = source[from + i];
    copy(target.data() + to, source.data() + from, size);
    return target == expected;
}

}  // namespace

TEST_CASE("copies are exact at every small size and alignment") {
    for (std::size_t size = 0; size < 300; ++size) {
        for (const std::size_t to : {0U, 1U, 15U, 31U, 63U}) {
            for (const std::size_t from : {0U, 1U, 33U}) {
                INFO(size << ' ' << to << ' ' << from);
                REQUIRE(exact(arch::copy_nontemporal, size, to, from, 1));
                REQUIRE(exact(arch::copy, size, to, from, 2));
            }
        }
    }
}

TEST_CASE("large copies are exact") {
    const std::size_t threshold = arch::nontemporal_threshold();
    CHECK(threshold >= 256 * 1024);
    for (const std::size_t size :
         {std::size_t{100'000}, std::size_t{300'001}, std::size_t{4'000'003}}) {
        CHECK(exact(arch::copy_nontemporal, size, 5, 3, 3));
        CHECK(exact(arch::copy, size, 5, 3, 4));
    }
}
