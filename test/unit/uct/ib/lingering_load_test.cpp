#include "uct/ib/rc/base/lingering_load.hpp"

#include <catch2/catch.hpp>

using uct::rc::lingering_load;

TEST_CASE("closed endpoints may hold a quarter of all requests") {
    lingering_load load(4096);
    load.add(1000);
    load.add(24);
    CHECK_FALSE(load.is_excessive());
    load.add(1);
    CHECK(load.is_excessive());
    load.remove(1000);
    CHECK_FALSE(load.is_excessive());
    load.add(4000);
    CHECK(load.is_excessive());
}

TEST_CASE("only so many closed endpoints may have unsent messages") {
    lingering_load load(1U << 20U);
    for (std::size_t i = 0; i < lingering_load::most_connections; ++i)
        load.add(1);
    CHECK_FALSE(load.is_excessive());
    load.add(1);
    CHECK(load.is_excessive());
    load.remove(1);
    CHECK_FALSE(load.is_excessive());
}

TEST_CASE("the smallest completion queue lets a closed endpoint keep its messages") {
    lingering_load load(4);
    load.add(2);
    CHECK_FALSE(load.is_excessive());
}
