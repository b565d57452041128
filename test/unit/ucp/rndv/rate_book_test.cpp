#include "ucp/rndv/rate_book.hpp"

#include <catch2/catch.hpp>

namespace {

using ucp::rate_book;
using ucp::rndv_method;
using method = ucp::rndv_method;

constexpr std::size_t length = 1 << 20;

// How often each method is chosen in `rounds` messages whose true costs are `truth`.
std::array<unsigned, ucp::rndv_method_count> play(rate_book& book, const rate_book::seconds& truth,
                                                  const rate_book::seconds& predicted,
                                                  unsigned rounds) {
    std::array<unsigned, ucp::rndv_method_count> chosen{};
    for (unsigned i = 0; i < rounds; ++i) {
        const rndv_method how = book.choose(length, predicted);
        book.observe(how, length, truth[static_cast<std::size_t>(how)]);
        ++chosen[static_cast<std::size_t>(how)];
    }
    return chosen;
}

}  // namespace

TEST_CASE("predictions decide while nothing was observed") {
    rate_book book;
    CHECK(book.choose(length, {3e-6, 2e-6, 9e-6}) == method::split);
    CHECK(book.choose(2 * length, {1e-6, 2e-6, 9e-6}) == method::read);
    CHECK(book.choose(4 * length, {9e-6, 8e-6, 1e-6}) == method::stream);
    CHECK(book.observed(method::read, length) == 0);
}

TEST_CASE("impossible methods are never chosen") {
    rate_book book;
    const auto chosen = play(book, {-1, -1, 5e-6}, {-1, -1, 5e-6}, 1000);
    CHECK(chosen[2] == 1000);
    CHECK(book.choose(length, {-1, 7e-6, -1}) == method::split);
}

TEST_CASE("what was observed overrules a wrong prediction") {
    rate_book book;
    const auto chosen = play(book, {50e-6, 90e-6, 20e-6}, {10e-6, 30e-6, 25e-6}, 1000);
    CHECK(chosen[2] > 950);
    CHECK(chosen[0] + chosen[1] > 0);  // the others are looked at now and then
    CHECK(book.observed(method::stream, length) == Approx(20e-6));
}

TEST_CASE("a change of the machine is noticed") {
    rate_book book;
    play(book, {20e-6, 30e-6, 25e-6}, {20e-6, 30e-6, 25e-6}, 500);
    play(book, {60e-6, 30e-6, 25e-6}, {20e-6, 30e-6, 25e-6}, 500);
    const auto chosen = play(book, {60e-6, 30e-6, 25e-6}, {20e-6, 30e-6, 25e-6}, 500);
    CHECK(chosen[2] > 450);
}

TEST_CASE("hopeless methods are not tried again") {
    rate_book book;
    const auto chosen = play(book, {10e-6, 100e-6, 11e-6}, {10e-6, 100e-6, 11e-6}, 1000);
    CHECK(chosen[1] == 0);
    CHECK(chosen[0] > 900);
    CHECK(chosen[2] > 0);
}

TEST_CASE("one interruption does not change the choice") {
    rate_book book;
    play(book, {10e-6, 100e-6, 15e-6}, {10e-6, 100e-6, 15e-6}, 100);
    book.observe(method::read, length, 1.0);  // not scheduled for a second
    CHECK(book.observed(method::read, length) < 20e-6);
}

TEST_CASE("sizes are kept apart by powers of two, empty messages teach nothing") {
    rate_book book;
    book.observe(method::read, length, 10e-6);
    CHECK(book.observed(method::read, length + 1) > 0);
    CHECK(book.observed(method::read, 2 * length) == 0);
    book.observe(method::read, 0, 10e-6);
    CHECK(book.observed(method::read, 0) == 0);
    CHECK(book.choose(~std::size_t{0}, {1, 2, 3}) == method::read);
}

TEST_CASE("the rate of streaming follows what is observed and says when it has moved") {
    ucp::stream_rate rate(10e9);
    for (int i = 0; i < 20; ++i)
        rate.observe(length, static_cast<double>(length) / 11e9);
    CHECK_FALSE(rate.outdated());
    for (int i = 0; i < 20; ++i)
        rate.observe(length, static_cast<double>(length) / 2e9);
    CHECK(rate.outdated());
    CHECK(rate.used() == 10e9);
    rate.adopt();
    CHECK(rate.used() == Approx(2e9).epsilon(0.05));
    CHECK_FALSE(rate.outdated());
    rate.observe(length, 0);  // no time passed: says nothing
    rate.observe(length, 1.0);
    CHECK_FALSE(rate.outdated());
}
