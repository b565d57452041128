#include "ucs/memory/small_copy.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace {

std::string letters(std::size_t length) {
    std::string text;
    while (text.size() < length)
        text += static_cast<char>('a' + text.size() % 26);
    return text;
}

}  // namespace

TEST_CASE("short copies move exactly the length, for every length") {
    for (std::size_t length = 0; length <= 64; ++length) {
        INFO(length);
        const std::string from = letters(length);
        std::string into(80, '#');
        ucs::memory::copy_small<64>(into.data(), from.data(), length);
        CHECK(into == from + std::string(80 - length, '#'));
        std::string other(80, '#');
        ucs::memory::copy_bytes(other.data(), from.data(), length);
        CHECK(other == into);
    }
}

TEST_CASE("a length of 0 copies nothing") {
    ucs::memory::copy_bytes(nullptr, nullptr, 0);
    SUCCEED();
}
