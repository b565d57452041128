#include "ucs/log/level.hpp"

#include <catch2/catch.hpp>

using namespace ucs::log;

TEST_CASE("log level names are read in any case and printed in theirs") {
    CHECK(parse_level("warn") == level::warn);
    CHECK(parse_level(" TRACE ") == level::trace);
    CHECK(parse_level("req") == level::trace_req);
    CHECK(parse_level("trace_data") == level::trace_data);
    CHECK_FALSE(parse_level("").has_value());
    CHECK_FALSE(parse_level("warning").has_value());
    for (unsigned i = 0; i <= static_cast<unsigned>(level::trace_poll); ++i) {
        const auto value = static_cast<level>(i);
        CHECK(parse_level(ucs::log::level_name(value)) == value);
    }
    CHECK(std::string(ucs::log::level_name(static_cast<level>(99))) == "unknown");
}

TEST_CASE("the longest component that fits decides its level") {
    const auto map = level_map::parse("error, ucp:info ,ucp.wireup:debug,uct.*:trace");
    REQUIRE(map.has_value());
    CHECK(map->of("ucs.config") == level::error);
    CHECK(map->of("ucp") == level::info);
    CHECK(map->of("ucp.tag") == level::info);
    CHECK(map->of("ucp.wireup") == level::debug);
    CHECK(map->of("ucp.wireup.lanes") == level::debug);
    CHECK(map->of("ucpx") == level::error);
    CHECK(map->of("uct.tcp") == level::trace);
}

TEST_CASE("levels for components only leave the default level for others") {
    const auto map = level_map::parse("ucp:debug");
    REQUIRE(map.has_value());
    CHECK(map->of("uct") == level_map::default_level);
}

TEST_CASE("wrong level texts are refused as a whole") {
    for (const char* text : {"", ",", "warn,", "ucp:", "ucp:loud", "loud", "warn,ucp=debug", ":"}) {
        INFO(text);
        CHECK_FALSE(level_map::parse(text).has_value());
    }
}
