#include "ucp/rma/rail_speed.hpp"

#include <catch2/catch.hpp>

#include "ucp/rma/striped.hpp"

using ucp::chunk_length_of;
using ucp::rail_speed;

TEST_CASE("a rail's speed is what its pieces took, one after the other") {
    rail_speed of;
    CHECK(of.bandwidth() == 0);
    of.observe(1000, 0, 1000);  // in nanoseconds
    CHECK(of.bandwidth() == Approx(1e9));
    // Posted together with the first, carried after it.
    of.observe(1000, 0, 2000);
    CHECK(of.bandwidth() == Approx(1e9));
    for (ucs::time::nanoseconds at = 3000; at < 100'000; at += 2000)
        of.observe(1000, at, at + 500);
    CHECK(of.bandwidth() == Approx(2e9).epsilon(0.01));
}

TEST_CASE("one pause of the process does not make a rail slow") {
    rail_speed of;
    of.observe(1000, 0, 1000);
    of.observe(1000, 2000, 1'000'000'000);
    CHECK(of.bandwidth() > 0.5e9);
    rail_speed empty;
    empty.observe(0, 0, 1000);
    empty.observe(1000, 2000, 2000);
    CHECK(empty.bandwidth() == 0);
}

TEST_CASE("a rail's chunks are as few as its share makes, of whole pages") {
    constexpr std::size_t least = 16384;
    constexpr std::size_t most = 1 << 20;
    CHECK(chunk_length_of(0.5, 1 << 20, least, most) == 1 << 19);
    CHECK(chunk_length_of(0.25, 1 << 20, least, most) == 1 << 18);
    CHECK(chunk_length_of(0.5, 100'000, least, most) == 53'248);
    CHECK(chunk_length_of(0.001, 1 << 20, least, most) == least);
    // 1.5 MB are two chunks.
    CHECK(chunk_length_of(0.5, 3 << 20, least, most) == 3 << 18);
    CHECK(chunk_length_of(0.5, 1 << 30, least, most) <= most);
    // What a device can do at once is a bound whatever else is wished.
    CHECK(chunk_length_of(0.5, 1 << 20, least, 100) == 100);
}
