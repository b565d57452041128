// When a rank writes its slots past the caches.
#include "ucg/node/slot_writer.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using ucg::node::slot_writer;

namespace {

constexpr std::size_t bytes = 32 * 1024;
constexpr ucs::time::nanoseconds fast = 1'000, slow = 20'000;

void note(slot_writer& to, ucs::time::nanoseconds took, unsigned times) {
    for (unsigned i = 0; i < times; ++i)
        to.note(bytes, took);
}

}  // namespace

TEST_CASE(
    "several slow copies in a row make a writer go past the caches, fast ones bring it back") {
    slot_writer by{slot_writer::limits()};
    const unsigned enough = slot_writer::limits().in_a_row;
    REQUIRE(enough > 1);
    CHECK_FALSE(by.streams());
    note(by, slow, enough - 1);
    note(by, fast, 1);  // so it was an interruption
    note(by, slow, enough - 1);
    CHECK_FALSE(by.streams());
    note(by, slow, 1);
    CHECK(by.streams());
    note(by, fast, enough - 1);
    note(by, slow, 1);
    CHECK(by.streams());
    note(by, fast, enough);
    CHECK_FALSE(by.streams());
}

TEST_CASE("a short copy may take the time that lines of main memory take") {
    slot_writer by{slot_writer::limits()};
    for (unsigned i = 0; i < 10; ++i)
        by.note(8192, 2'000);
    CHECK_FALSE(by.streams());
}

// With limits under which no ordinary copy is slow, only those that are timed bring it back.
TEST_CASE("ordinary copies are tried now and then") {
    slot_writer::limits limits;
    limits.slow_copy = 1e12;
    limits.tried_every = 5;
    slot_writer by(limits);
    note(by, ucs::time::nanoseconds{1} << 62U, limits.in_a_row);
    REQUIRE(by.streams());
    std::vector<std::byte> from(bytes), into(bytes);
    unsigned copies = 0;
    for (; by.streams() && copies < 100; ++copies)
        by.put(into.data(), from.data(), bytes);
    CHECK(copies == limits.tried_every + limits.in_a_row - 1);
}

TEST_CASE("copies into memory that is new are not timed") {
    slot_writer by({1, 0, -1, 1, 2, 1}, 3 * bytes);  // every copy that is timed is slow
    std::vector<std::byte> from(bytes), into(bytes);
    for (int i = 0; i < 3; ++i) {
        by.put(into.data(), from.data(), bytes);
        CHECK_FALSE(by.streams());
    }
    by.put(into.data(), from.data(), bytes);
    CHECK(by.streams());
}

TEST_CASE("whatever way it goes, all bytes come and no others are touched") {
    slot_writer::limits always{1, 0, -1, 1, 2, 1};
    for (const bool streams : {false, true}) {
        slot_writer by(always);
        if (streams) note(by, slow, 1);
        std::vector<unsigned char> from(5000), into;
        std::iota(from.begin(), from.end(), static_cast<unsigned char>(3));
        const auto* const source = reinterpret_cast<const std::byte*>(from.data());
        for (const std::size_t size : {0U, 1U, 63U, 64U, 200U, 4096U, 4700U}) {
            for (const std::size_t offset : {0U, 1U, 17U, 64U}) {
                into.assign(from.size(), 0xee);
                by.put(reinterpret_cast<std::byte*>(into.data()) + offset, source, size);
                INFO(size << " bytes at " << offset);
                std::vector<unsigned char> expected(from.size(), 0xee);
                std::copy_n(from.begin(), size, expected.begin() + static_cast<long>(offset));
                CHECK(into == expected);
            }
        }
        by.put(reinterpret_cast<std::byte*>(into.data()), nullptr, 0);
    }
}
