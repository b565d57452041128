#include "tools/perf/core/pattern.hpp"

#include <catch2/catch.hpp>
#include <vector>

using tools::perf::pattern;

TEST_CASE("a message may be filled and checked in pieces of any size") {
    const pattern content(3, 17);
    std::vector<std::byte> whole(1000);
    content.fill(whole, 0);
    for (const std::size_t piece : {1U, 3U, 7U, 8U, 64U, 333U}) {
        std::vector<std::byte> parts(whole.size());
        for (std::size_t offset = 0; offset < parts.size(); offset += piece) {
            const std::size_t length = std::min<std::size_t>(piece, parts.size() - offset);
            content.fill(std::span(parts).subspan(offset, length), offset);
            CHECK_FALSE(content.find_difference(std::span(whole).subspan(offset, length), offset));
        }
        CHECK(parts == whole);
    }
}

TEST_CASE("every single wrong byte is found at its offset") {
    const pattern content(0, 5);
    std::vector<std::byte> message(67);
    content.fill(message, 0);
    for (std::size_t offset = 0; offset < message.size(); ++offset) {
        message[offset] ^= std::byte{1};
        CHECK(content.find_difference(message, 0) == offset);
        message[offset] ^= std::byte{1};
    }
    CHECK_FALSE(content.find_difference(message, 0).has_value());
}

TEST_CASE("messages of other iterations and streams differ") {
    std::vector<std::byte> message(64);
    pattern(1, 1).fill(message, 0);
    CHECK(pattern(1, 2).find_difference(message, 0).has_value());
    CHECK(pattern(2, 1).find_difference(message, 0).has_value());
    CHECK(pattern(1, 1).find_difference(std::span(message).subspan(8), 0).has_value());
}
