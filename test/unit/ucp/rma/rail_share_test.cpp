#include "ucp/rma/rail_share.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "ucp/rma/striped.hpp"

using ucp::chunk_length_of;
using ucp::rail_share;

namespace {

// Two rails with these speeds alone, and a bound for both together.
struct world {
    double speeds[2];
    double together;
    rail_share shares[2]{};

    [[nodiscard]] double part(int which) const {
        const double all = shares[0].weight(1) + shares[1].weight(1);
        return shares[which].weight(1) / all;
    }
    // Both send at the same time, and the one that is left alone goes on.
    void transfer() {
        const double both = std::min(together, speeds[0] + speeds[1]);
        const double rate[2] = {both * speeds[0] / (speeds[0] + speeds[1]),
                                both * speeds[1] / (speeds[0] + speeds[1])};
        const int first = part(0) / rate[0] < part(1) / rate[1] ? 0 : 1;
        double took[2];
        took[first] = part(first) / rate[first];
        const double left = part(1 - first) - took[first] * rate[1 - first];
        took[1 - first] = took[first] + left / std::min(together, speeds[1 - first]);
        const double average = (took[0] + took[1]) / 2;
        shares[0].adapt(took[0], average);
        shares[1].adapt(took[1], average);
    }
};

}  // namespace

TEST_CASE("rails of their own carry as much as they are fast") {
    world of{{3, 1}, 100};
    CHECK(of.part(0) == Approx(0.5));
    for (int i = 0; i < 100; ++i)
        of.transfer();
    CHECK(of.part(0) == Approx(0.75).epsilon(0.02));
}

TEST_CASE("rails that share a bottleneck share alike, wherever they begin") {
    world of{{1, 1}, 1};
    for (int i = 0; i < 5; ++i)
        of.shares[0].adapt(10, 1);  // a bad time
    CHECK(of.part(0) < 0.4);
    for (int i = 0; i < 200; ++i)
        of.transfer();
    CHECK(of.part(0) == Approx(0.5).epsilon(0.02));
}

TEST_CASE("a share changes little by one transfer, and never becomes nothing") {
    rail_share of;
    of.adapt(1000, 1);
    CHECK(of.weight(1) == Approx(0.875));
    for (int i = 0; i < 1000; ++i)
        of.adapt(1000, 1);
    CHECK(of.weight(1) > 0.01);
    for (int i = 0; i < 1000; ++i)
        of.adapt(1, 1000);
    CHECK(of.weight(1) < 100);
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
