// Tests that texts of peers cannot control a terminal, and stay readable.
#include "ucs/log/printable.hpp"

#include <catch2/catch.hpp>

using ucs::log::printable;

TEST_CASE("ordinary texts stay as they are") {
    const std::string text =
        "rank 3\tgr\xc3\xb6\xc3\x9f"
        "e \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0~";
    CHECK(printable(text) == text);
    CHECK(printable("") == "");
}

TEST_CASE("control characters of ASCII are written as numbers") {
    CHECK(printable("a\x1b[2J\r\n\x7f") == "a\\x1b[2J\\x0d\\x0a\\x7f");
    CHECK(printable(std::string_view("\0b", 2)) == "\\x00b");
}

TEST_CASE("control characters above ASCII are written as numbers") {
    CHECK(printable("a\xc2\x9b"
                    "2J") == "a\\xc2\\x9b2J");  // CSI
    CHECK(printable("\xc2\x80\xc2\x9f") == "\\xc2\\x80\\xc2\\x9f");
}

TEST_CASE("invalid UTF-8 is written as numbers") {
    CHECK(printable("a\x9b"
                    "2J") == "a\\x9b2J");  // CSI of terminals with 8 bits
    CHECK(printable("\xe4rger") == "\\xe4rger");
    CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");  // too long
    CHECK(printable("\xc2") == "\\xc2");
}
