// Tests of the record of failed operations.
#include "ucg/net/failures.hpp"

#include <catch2/catch.hpp>

using ucg::net::failures;

TEST_CASE("failures: the last ones of started operations are kept, and all of others") {
    failures all;
    for (std::uint64_t number = 0; number < 1000; ++number)
        all.add(number, UCS_ERR_CANCELED, 500);
    CHECK(std::distance(all.begin(), all.end()) == 564);
    CHECK(all.is_forgotten(435));
    CHECK_FALSE(all.is_forgotten(436));
    CHECK(all.status_of(435) == UCS_OK);
    CHECK(all.status_of(436) == UCS_ERR_CANCELED);
    CHECK(all.status_of(999) == UCS_ERR_CANCELED);
    CHECK(all.status_of(1000) == UCS_OK);
    all.add(436, UCS_ERR_TIMED_OUT, 500);
    CHECK(all.status_of(436) == UCS_ERR_CANCELED);  // the first report is kept
}
