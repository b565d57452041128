#include "ucp/proto/reuse_history.hpp"

#include <catch2/catch.hpp>

using ucp::reuse_history;

namespace {

constexpr uct::preparation known{};
constexpr uct::preparation unknown{1.0, true};

// The largest of so many prices, because one in 64 is 0.
double highest(reuse_history& history, const uct::preparation& ready, int times) {
    double most = 0;
    for (int i = 0; i < times; ++i)
        most = std::max(most, history.price_of(ready));
    return most;
}

}  // namespace

TEST_CASE(
    "registered memory costs nothing, and a registration that does not last its whole price") {
    reuse_history history;
    CHECK(history.price_of(known) == 0);
    CHECK(history.price_of({1.0, false}) == 1);
    CHECK(history.price_of({1.0, false}) == 1);
}

TEST_CASE("memory counts as used again until observations differ") {
    reuse_history history;
    CHECK(highest(history, unknown, 3) < 0.2);
    CHECK(highest(history, unknown, 200) > 0.85);
}

TEST_CASE("it is noticed that a program begins to use its memory again") {
    reuse_history history;
    static_cast<void>(highest(history, unknown, 1'000'000));
    unsigned free = 0;
    for (int i = 0; i < 128; ++i)
        if (history.price_of(unknown) == 0) ++free;
    CHECK(free == 2);
    for (int i = 0; i < 1000; ++i)
        CHECK(history.price_of(known) == 0);
    static_cast<void>(history.price_of(unknown));
    CHECK(history.price_of(unknown) < 0.1);
}
