#include "tools/common/nearest.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace tools;

namespace {

constexpr std::array<std::string_view, 3> names{"ring", "tag_lat", "tag_bw"};

}  // namespace

TEST_CASE("a slip is told from another word") {
    CHECK(nearest("rign", names) == "ring");
    CHECK(nearest("tag_lta", names) == "tag_lat");
    CHECK(nearest("nonsense", names).empty());
    CHECK(nearest("", names).empty());
    CHECK(nearest("ring", {}).empty());
}

TEST_CASE("a wrong name is answered with those that there are") {
    CHECK(none_of("rign", names) ==
          "\"rign\" is none of: ring, tag_lat, tag_bw; did you mean \"ring\"?");
    CHECK(none_of("magic", names) == "\"magic\" is none of: ring, tag_lat, tag_bw");
}
