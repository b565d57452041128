#include "uct/ib/ud/base/assembly.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using uct::ud::assembly;
using outcome = assembly::outcome;

namespace {

constexpr std::size_t most = 10;

outcome add(assembly& to, bool first, bool last, std::string_view text) {
    return to.add(first, last, std::as_bytes(std::span(text)), most);
}

std::string text_of(const assembly& of) {
    return {reinterpret_cast<const char*>(of.message().data()), of.message().size()};
}

}  // namespace

TEST_CASE("parts become one message") {
    assembly of;
    CHECK(add(of, true, false, "abc") == outcome::part);
    CHECK(of.is_open());
    CHECK(add(of, false, false, "") == outcome::part);
    CHECK(add(of, false, true, "defghij") == outcome::whole);
    CHECK(text_of(of) == "abcdefghij");
    CHECK_FALSE(of.is_open());
    CHECK(add(of, true, true, "xy") == outcome::whole);
    CHECK(text_of(of) == "xy");
}

TEST_CASE("parts that do not belong together, or are too long, are malformed") {
    assembly of;
    CHECK(add(of, false, true, "end of nothing") == outcome::malformed);
    CHECK(add(of, true, false, "abc") == outcome::part);
    CHECK(add(of, true, false, "another beginning") == outcome::malformed);
    CHECK_FALSE(of.is_open());
    CHECK(add(of, true, false, "12345") == outcome::part);
    CHECK(add(of, false, false, "678901") == outcome::malformed);
    CHECK(add(of, true, true, "12345678901") == outcome::malformed);
    CHECK(add(of, true, false, "a") == outcome::part);
    of.drop();
    CHECK(add(of, false, true, "b") == outcome::malformed);
}
