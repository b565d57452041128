#include "ucs/log/throttle.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"

namespace {
constinit const ucs::log::component self{"test.throttle"};
}

TEST_CASE("a throttle writes the first lines and then those of powers of ten, and counts all") {
    ucs::log::throttle some;
    const test::log_capture log;
    for (int i = 1; i <= 10'000; ++i)
        some.warn(self, "number {} is wrong", i);
    INFO(log.text());
    CHECK(some.count() == 10'000);
    CHECK(log.size() == ucs::log::throttle::first_lines + 4);
    CHECK(log.count("number 1 is wrong", ucs::log::level::warn) == 1);
    CHECK(log.count("number 1000 is wrong (1000 of the kind so far") == 1);
    CHECK(log.count("number 2 is wrong (") == 0);
    CHECK(log.count("number 8 is wrong (8 of the kind so far") == 1);
}
