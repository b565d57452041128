#include "uct/ib/ud/base/faults.hpp"

#include <catch2/catch.hpp>

using uct::ud::faults;

TEST_CASE("injected faults have the requested rates and depend only on the seed") {
    faults one({0.1, 0.2, 0.3, 7}), same({0.1, 0.2, 0.3, 7});
    unsigned lost = 0, twice = 0, late = 0;
    constexpr unsigned count = 10'000;
    for (unsigned i = 0; i < count; ++i) {
        const faults::fate fate = one.next(), other = same.next();
        CHECK(fate.lost == other.lost);
        CHECK(fate.overtaken_by == other.overtaken_by);
        CHECK(fate.overtaken_by <= 5);
        lost += fate.lost;
        twice += fate.twice;
        late += fate.overtaken_by > 0;
    }
    CHECK((lost > count / 12 && lost < count / 8));
    CHECK((twice > count / 6 && twice < count / 4));
    CHECK((late > count / 4 && late < count / 2));
    CHECK_FALSE(faults({}).any());
}
