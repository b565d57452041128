#include "tools/common/nearest.hpp"

#include <array>
#include <catch2/catch.hpp>

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
