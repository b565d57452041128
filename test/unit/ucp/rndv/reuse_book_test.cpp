#include "ucp/rndv/reuse_book.hpp"

#include <catch2/catch.hpp>

using ucp::reuse_book;

namespace {

constexpr uct::preparation known{};
constexpr uct::preparation unknown{1.0, true};

// The largest of so many prices, because one in 64 is 0.
double highest(reuse_book& of, const uct::preparation& ready, int times) {
    double most = 0;
    for (int i = 0; i < times; ++i)
        most = std::max(most, of.price_of(ready));
    return most;
}

}  // namespace

TEST_CASE("memory that is known costs nothing, and what does not last its whole price") {
    reuse_book of;
    CHECK(of.price_of(known) == 0);
    CHECK(of.price_of({1.0, false}) == 1);
    CHECK(of.price_of({1.0, false}) == 1);
}

TEST_CASE("memory counts as used again until it shows otherwise") {
    reuse_book of;
    CHECK(highest(of, unknown, 3) < 0.2);
    CHECK(highest(of, unknown, 200) > 0.85);
}

TEST_CASE("a program that begins to use its memory again is noticed") {
    reuse_book of;
    static_cast<void>(highest(of, unknown, 1'000'000));
    unsigned free = 0;
    for (int i = 0; i < 128; ++i)
        if (of.price_of(unknown) == 0) ++free;
    CHECK(free == 2);
    for (int i = 0; i < 1000; ++i)
        CHECK(of.price_of(known) == 0);
    static_cast<void>(of.price_of(unknown));
    CHECK(of.price_of(unknown) < 0.1);
}
