#include "tools/perf/uct/resources.hpp"

#include <catch2/catch.hpp>

using namespace tools::perf;

namespace {

std::vector<offer> two_offers() {
    std::vector<offer> offers(2);
    offers[0].where = {"tcp", "lo", uct::device_type::network};
    offers[1].where = {"tcp", "eth0", uct::device_type::network};
    return offers;
}

}  // namespace

TEST_CASE("transport and device together select an offer") {
    const auto offers = two_offers();
    CHECK(choose(offers, "tcp", "lo").where.device == "lo");
    CHECK(choose(offers, "tcp", "eth0").where.device == "eth0");
}

TEST_CASE("the error for an unknown name lists the available ones") {
    const auto offers = two_offers();
    CHECK_THROWS_AS(choose(offers, "tcp", "eth1"), not_offered);
    CHECK_THROWS_AS(choose(offers, "rc", "lo"), not_offered);
    CHECK_THROWS_WITH(choose(offers, "rc", "lo"), Catch::Contains("tcp/lo, tcp/eth0"));
}

TEST_CASE("a missing name is an error, also in a batch") {
    const auto offers = two_offers();
    for (const auto& [transport, device] : {std::pair{"tcp", ""}, std::pair{"", "lo"}}) {
        try {
            static_cast<void>(choose(offers, transport, device));
            FAIL("nothing was thrown");
        } catch (const not_offered&) {
            FAIL("it would be left out");
        } catch (const tools::usage_error& error) {
            CHECK_THAT(error.what(), Catch::Contains("tcp/lo, tcp/eth0"));
        }
    }
}
