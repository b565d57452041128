#include "ucp/core/rail_share.hpp"

#include <catch2/catch.hpp>

#include "ucp/proto/striped.hpp"

using namespace ucp;

TEST_CASE("a rail's weight follows the bytes that it carries in common transfers") {
    rail_share fast, slow;
    CHECK(fast.weight(10) == 10);
    for (int i = 0; i < 10; ++i) {
        fast.learn(6, 4);
        slow.learn(2, 4);
    }
    CHECK(fast.weight(1) == Approx(1.5).epsilon(0.01));
    CHECK(slow.weight(1) == Approx(0.5).epsilon(0.01));
    for (int i = 0; i < 10; ++i)
        slow.learn(4, 4);
    CHECK(slow.weight(1) == Approx(1).epsilon(0.01));
}

TEST_CASE("one transfer changes a share by at most half, and a share never becomes zero") {
    rail_share share;
    share.learn(0, 1);
    CHECK(share.weight(1) > 0.5);
    for (int i = 0; i < 100; ++i)
        share.learn(0, 1);
    CHECK(share.weight(1) > 0.04);
}

TEST_CASE("few transfers are used for learning, an early one among them") {
    rail_share share;
    CHECK_FALSE(share.is_due());
    CHECK(share.is_due());
    int due = 0;
    for (int i = 0; i < 640; ++i)
        due += share.is_due() ? 1 : 0;
    CHECK(due == 10);
}

TEST_CASE("a rail uses as few chunks as possible, of whole pages") {
    constexpr std::size_t least = 16384;
    constexpr std::size_t most = 1 << 20;
    CHECK(chunk_length_of(0.5, 1 << 20, least, most) == 1 << 19);
    CHECK(chunk_length_of(0.25, 1 << 20, least, most) == 1 << 18);
    CHECK(chunk_length_of(0.5, 100'000, least, most) == 53'248);
    CHECK(chunk_length_of(0.001, 1 << 20, least, most) == least);
    // The rail's part is 1.5 MB, so it needs two chunks.
    CHECK(chunk_length_of(0.5, 3 << 20, least, most) == 3 << 18);
    CHECK(chunk_length_of(0.5, 1 << 30, least, most) <= most);
    // The longest chunk is the device's limit: it applies even if it is less than the shortest.
    CHECK(chunk_length_of(0.5, 1 << 20, least, 100) == 100);
}
