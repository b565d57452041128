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

std::string text_of(const assembly& parts) {
    return {reinterpret_cast<const char*>(parts.message().data()), parts.message().size()};
}

}  // namespace

TEST_CASE("parts are joined to one message") {
    assembly parts;
    CHECK(add(parts, true, false, "abc") == outcome::part);
    CHECK(parts.is_open());
    CHECK(add(parts, false, false, "") == outcome::part);
    CHECK(add(parts, false, true, "defghij") == outcome::whole);
    CHECK(text_of(parts) == "abcdefghij");
    CHECK_FALSE(parts.is_open());
    CHECK(add(parts, true, true, "xy") == outcome::whole);
    CHECK(text_of(parts) == "xy");
}

TEST_CASE("parts in wrong order, or too long, are malformed") {
    assembly parts;
    CHECK(add(parts, false, true, "end of nothing") == outcome::malformed);
    CHECK(add(parts, true, false, "abc") == outcome::part);
    CHECK(add(parts, true, false, "another beginning") == outcome::malformed);
    CHECK_FALSE(parts.is_open());
    CHECK(add(parts, true, false, "12345") == outcome::part);
    CHECK(add(parts, false, false, "678901") == outcome::malformed);
    CHECK(add(parts, true, true, "12345678901") == outcome::malformed);
    CHECK(add(parts, true, false, "a") == outcome::part);
    parts.drop();
    CHECK(add(parts, false, true, "b") == outcome::malformed);
}
