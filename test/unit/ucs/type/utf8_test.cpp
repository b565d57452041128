// Tests of the lengths of UTF-8 sequences, and of invalid bytes.
#include "ucs/type/utf8.hpp"

#include <catch2/catch.hpp>

using ucs::utf8_length;

TEST_CASE("a sequence has from 1 to 4 bytes, whatever follows") {
    CHECK(utf8_length("a") == 1);
    CHECK(utf8_length(std::string_view("\0b", 2)) == 1);
    CHECK(utf8_length("\x7f") == 1);
    CHECK(utf8_length("\xc2\x80") == 2);
    CHECK(utf8_length("\xdf\xbf"
                      "b") == 2);
    CHECK(utf8_length("\xe0\xa0\x80") == 3);
    CHECK(utf8_length("\xef\xbf\xbf"
                      "b") == 3);
    CHECK(utf8_length("\xf0\x90\x80\x80") == 4);
    CHECK(utf8_length("\xf4\x8f\xbf\xbf"
                      "b") == 4);
}

TEST_CASE("invalid sequences have no length") {
    const auto* const none = GENERATE("\x80", "\xbf", "\xc3", "\xc3z", "\xe2\x82", "\xe2\x82z",
                                      "\xf0\x90\x80", "\xf8\x88\x80\x80\x80", "\xff");
    CHECK(utf8_length(none) == 0);
}

TEST_CASE("overlong and invalid code points have no length") {
    const auto* const none = GENERATE("\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                                      "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80");
    CHECK(utf8_length(none) == 0);
}
