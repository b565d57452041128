#include "tools/perf/core/workload.hpp"

#include <catch2/catch.hpp>

using tools::perf::in_flight;

TEST_CASE("messages are in flight from their start to their end") {
    in_flight messages;
    messages.started();
    messages.started();
    messages.started();
    messages.ended_by_callback();
    CHECK(messages.count() == 2);
    messages.ended_at_once();
    CHECK(messages.count() == 1);
}

TEST_CASE("a message that ends before its start is not in flight afterwards") {
    in_flight messages;
    messages.ended_by_callback();
    messages.ended_by_callback();
    CHECK(messages.count() == 0);
    messages.started();
    messages.started();
    CHECK(messages.count() == 0);
    messages.started();
    CHECK(messages.count() == 1);
}
