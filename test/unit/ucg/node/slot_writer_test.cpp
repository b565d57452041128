// Tests of when a rank writes its slots with non-temporal stores.
#include "ucg/node/memory/slot_writer.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using ucg::node::slot_writer;

namespace {

constexpr std::size_t bytes = 32 * 1024;
constexpr ucs::time::nanoseconds fast = 1'000, slow = 20'000;

void note(slot_writer& writer, ucs::time::nanoseconds took, unsigned times) {
    for (unsigned i = 0; i < times; ++i)
        writer.note(bytes, took);
}

}  // namespace

TEST_CASE("several slow copies in a row switch to non-temporal stores, fast ones switch back") {
    slot_writer writer{slot_writer::limits()};
    const unsigned enough = slot_writer::limits().in_a_row;
    REQUIRE(enough > 1);
    CHECK_FALSE(writer.is_nontemporal());
    note(writer, slow, enough - 1);
    note(writer, fast, 1);  // so the slow copies were an interruption
    note(writer, slow, enough - 1);
    CHECK_FALSE(writer.is_nontemporal());
    note(writer, slow, 1);
    CHECK(writer.is_nontemporal());
    note(writer, fast, enough - 1);
    note(writer, slow, 1);
    CHECK(writer.is_nontemporal());
    note(writer, fast, enough);
    CHECK_FALSE(writer.is_nontemporal());
}

TEST_CASE("a short copy may take as long as lines of main memory take") {
    slot_writer writer{slot_writer::limits()};
    for (unsigned i = 0; i < 10; ++i)
        writer.note(8192, 2'000);
    CHECK_FALSE(writer.is_nontemporal());
}

// With these limits no ordinary copy is slow, so the timed trials bring ordinary stores back.
TEST_CASE("ordinary copies are tried from time to time") {
    slot_writer::limits limits;
    limits.slow_copy = 1e12;
    limits.tried_every = 5;
    slot_writer writer(limits);
    note(writer, ucs::time::nanoseconds{1} << 62U, limits.in_a_row);
    REQUIRE(writer.is_nontemporal());
    std::vector<std::byte> from(bytes), into(bytes);
    unsigned copies = 0;
    for (; writer.is_nontemporal() && copies < 100; ++copies)
        writer.put(into.data(), from.data(), bytes);
    CHECK(copies == limits.tried_every + limits.in_a_row - 1);
}

TEST_CASE("copies into fresh memory are not timed") {
    slot_writer writer({1, 0, -1, 1, 2, 1}, 3 * bytes);  // every timed copy is slow
    std::vector<std::byte> from(bytes), into(bytes);
    for (int i = 0; i < 3; ++i) {
        writer.put(into.data(), from.data(), bytes);
        CHECK_FALSE(writer.is_nontemporal());
    }
    writer.put(into.data(), from.data(), bytes);
    CHECK(writer.is_nontemporal());
}

TEST_CASE("both kinds of stores write all bytes and no others") {
    slot_writer::limits always{1, 0, -1, 1, 2, 1};
    for (const bool nontemporal : {false, true}) {
        slot_writer writer(always);
        if (nontemporal) note(writer, slow, 1);
        std::vector<unsigned char> from(5000), into;
        std::iota(from.begin(), from.end(), static_cast<unsigned char>(3));
        const auto* const source = reinterpret_cast<const std::byte*>(from.data());
        for (const std::size_t size : {0U, 1U, 63U, 64U, 200U, 4096U, 4700U}) {
            for (const std::size_t offset : {0U, 1U, 17U, 64U}) {
                into.assign(from.size(), 0xee);
                writer.put(reinterpret_cast<std::byte*>(into.data()) + offset, source, size);
                INFO(size << " bytes at " << offset);
                std::vector<unsigned char> expected(from.size(), 0xee);
                std::copy_n(from.begin(), size, expected.begin() + static_cast<long>(offset));
                CHECK(into == expected);
            }
        }
        writer.put(reinterpret_cast<std::byte*>(into.data()), nullptr, 0);
    }
}
