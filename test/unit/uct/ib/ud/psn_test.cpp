#include "uct/ib/ud/base/psn.hpp"

#include <catch2/catch.hpp>

using uct::ud::psn;

TEST_CASE("packet numbers wrap around and compare across the wrap") {
    const psn last(0xffffffffU);
    CHECK((last + 1).value() == 0);
    CHECK(last < last + 1);
    CHECK(last + 5 > last);
    CHECK((last + 5) - last == 5);
    CHECK(last - (last + 5) == -5);
    psn next = last;
    CHECK(++next == psn(0));
    CHECK(psn(3) <= psn(3));
}

TEST_CASE("packet numbers compare within half of their range") {
    const psn from(17);
    CHECK(from < from + 0x7fffffffU);
    CHECK(from > from + 0x80000001U);
    CHECK((from + 0x7fffffffU) - from == 0x7fffffff);
}
