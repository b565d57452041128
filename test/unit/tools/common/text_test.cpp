#include "tools/common/text.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace tools;

TEST_CASE("counts are whole decimal numbers") {
    CHECK(parse_count("0") == 0);
    CHECK(parse_count("18446744073709551615") == 18446744073709551615U);
    for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "1k", "0x10", "18446744073709551616"}) {
        INFO(wrong);
        CHECK_FALSE(parse_count(wrong).has_value());
    }
}

TEST_CASE("sizes have units of 1024") {
    CHECK(parse_size("8") == 8);
    CHECK(parse_size("8b") == 8);
    CHECK(parse_size("64k") == 65536);
    CHECK(parse_size("64KB") == 65536);
    CHECK(parse_size("1m") == 1048576);
    CHECK(parse_size("2G") == 2147483648U);
    CHECK(parse_size("1t") == 1099511627776U);
    for (const char* wrong : {"", "k", "8x", "8kk", "8 k", "-8", "99999999999t", "8kbb"}) {
        INFO(wrong);
        CHECK_FALSE(parse_size(wrong).has_value());
    }
}

TEST_CASE("reals are finite") {
    CHECK(parse_real("99.9") == 99.9);
    CHECK(parse_real("50") == 50.0);
    for (const char* wrong : {"", "inf", "nan", "1e5", "1.5x"}) {
        INFO(wrong);
        CHECK_FALSE(parse_real(wrong).has_value());
    }
}

TEST_CASE("split keeps empty pieces, words does not") {
    CHECK(split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split("", ',') == std::vector<std::string_view>{""});
    CHECK(words(" \ta  bc\r\n") == std::vector<std::string_view>{"a", "bc"});
    CHECK(words("  ").empty());
}

TEST_CASE("thousands are separated") {
    CHECK(with_thousands(0) == "0");
    CHECK(with_thousands(999) == "999");
    CHECK(with_thousands(1000) == "1,000");
    CHECK(with_thousands(1234567) == "1,234,567");
}

using namespace tools;

namespace {

constexpr std::array<std::string_view, 3> names{"ring", "tag_lat", "tag_bw"};

}  // namespace

TEST_CASE("a typing error is distinguished from another word") {
    CHECK(nearest("rign", names) == "ring");
    CHECK(nearest("tag_lta", names) == "tag_lat");
    CHECK(nearest("nonsense", names).empty());
    CHECK(nearest("", names).empty());
    CHECK(nearest("ring", {}).empty());
}

TEST_CASE("the error for a wrong name lists the valid names") {
    CHECK(none_of("rign", names) ==
          "\"rign\" is none of: ring, tag_lat, tag_bw; did you mean \"ring\"?");
    CHECK(none_of("tree", std::span(names).first(2)) == "\"tree\" is neither ring nor tag_lat");
    CHECK(none_of("magic", names) == "\"magic\" is none of: ring, tag_lat, tag_bw");
}
