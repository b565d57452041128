#include "uct/ib/base/memory/registration_price.hpp"

#include <catch2/catch.hpp>

using uct::ib::registration_price;

TEST_CASE("a cost is computed from a short piece and a long one") {
    const auto price = registration_price::between(4096, 12e-6, 1 << 20, 112e-6);
    CHECK(price.of(4096) == Approx(12e-6));
    CHECK(price.of(1 << 20) == Approx(112e-6));
    CHECK(price.of(1 << 24) == Approx(1612e-6).epsilon(0.01));
    CHECK(price.text() == "11.6 us and 100.4 us per MB");
}

TEST_CASE("a cost is never negative") {
    // The long piece was faster than the short one; or the short one took no time.
    CHECK(registration_price::between(4096, 50e-6, 1 << 20, 40e-6).of(1 << 24) == Approx(50e-6));
    CHECK(registration_price::between(4096, 0, 1 << 20, 40e-6).of(0) == 0);
}
