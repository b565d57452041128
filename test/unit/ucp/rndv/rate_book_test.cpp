#include "ucp/rndv/rate_book.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace {

using ucp::rate_book;
using ucp::rndv_method;
using method = ucp::rndv_method;

constexpr std::size_t length = 1 << 20;

using counts = std::array<unsigned, ucp::rndv_method_count>;

// A receiver with a clock of its own.
struct receiver {
    rate_book book;
    ucs::time::nanoseconds now = 1000;

    static ucs::time::nanoseconds nanoseconds(double seconds) {
        return static_cast<ucs::time::nanoseconds>(seconds * 1e9);
    }

    // A message alone.
    void pass(rndv_method how, std::size_t bytes, double took) {
        book.begin(now);
        const auto began = now;
        now += nanoseconds(took);
        book.observe(how, bytes, began, now);
        now += 100;
    }

    // How often each method is chosen in `rounds` messages whose true costs are `truth`.
    counts play(const rate_book::seconds& truth, const rate_book::seconds& predicted,
                unsigned rounds) {
        counts chosen{};
        for (unsigned i = 0; i < rounds; ++i) {
            const rndv_method how = book.choose(length, predicted);
            pass(how, length, truth[static_cast<std::size_t>(how)]);
            ++chosen[static_cast<std::size_t>(how)];
        }
        return chosen;
    }

    // The same with `width` messages that are announced at once. Reading ends in the call; of the
    // other methods each message ends its cost after the one before, and is found ended only when
    // all were begun.
    counts play_bursts(const rate_book::seconds& truth, const rate_book::seconds& predicted,
                       unsigned rounds, unsigned width) {
        counts chosen{};
        for (unsigned i = 0; i < rounds; ++i) {
            std::vector<std::pair<rndv_method, ucs::time::nanoseconds>> running;
            auto done = now;
            for (unsigned k = 0; k < width; ++k) {
                const rndv_method how = book.choose(length, predicted);
                ++chosen[static_cast<std::size_t>(how)];
                book.begin(now);
                const auto took = nanoseconds(truth[static_cast<std::size_t>(how)]);
                if (how == method::read) {
                    const auto began = now;
                    now += took;
                    book.observe(how, length, began, now);
                } else {
                    running.emplace_back(how, now);
                    done = std::max(done, now) + took;
                    now += 10;
                }
            }
            now = std::max(now, done);
            for (const auto& [how, began] : running)
                book.observe(how, length, began, now += 10);
            now += 100;
        }
        return chosen;
    }
};

}  // namespace

TEST_CASE("predictions decide while nothing was observed") {
    rate_book book;
    CHECK(book.choose(length, {3e-6, 2e-6, -1, 9e-6}) == method::split);
    CHECK(book.choose(2 * length, {1e-6, 2e-6, -1, 9e-6}) == method::read);
    CHECK(book.choose(4 * length, {9e-6, 8e-6, -1, 1e-6}) == method::stream);
    CHECK(book.observed(method::read, length) == 0);
}

TEST_CASE("impossible methods are never chosen") {
    receiver of;
    const auto chosen = of.play({-1, -1, -1, 5e-6}, {-1, -1, -1, 5e-6}, 1000);
    CHECK(chosen[3] == 1000);
    CHECK(of.book.choose(length, {-1, 7e-6, -1, -1}) == method::split);
}

TEST_CASE("what was observed overrules a wrong prediction") {
    receiver of;
    const auto chosen = of.play({50e-6, 90e-6, -1, 20e-6}, {10e-6, 30e-6, -1, 25e-6}, 1000);
    CHECK(chosen[3] > 950);
    CHECK(chosen[0] + chosen[1] > 0);  // the others are looked at now and then
    CHECK(of.book.observed(method::stream, length) == Approx(20e-6));
}

TEST_CASE("a change of the machine is noticed") {
    receiver of;
    of.play({20e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    of.play({60e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    const auto chosen = of.play({60e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    CHECK(chosen[3] > 450);
}

TEST_CASE("hopeless methods are not tried again") {
    receiver of;
    const auto chosen = of.play({10e-6, 100e-6, -1, 11e-6}, {10e-6, 100e-6, -1, 11e-6}, 1000);
    CHECK(chosen[1] == 0);
    CHECK(chosen[0] > 900);
    CHECK(chosen[3] > 0);
}

TEST_CASE("one interruption does not change the choice") {
    receiver of;
    of.play({10e-6, 100e-6, -1, 15e-6}, {10e-6, 100e-6, -1, 15e-6}, 100);
    of.pass(method::read, length, 1.0);  // not scheduled for a second
    CHECK(of.book.observed(method::read, length) < 20e-6);
}

TEST_CASE("sizes are kept apart by powers of two, empty messages teach nothing") {
    receiver of;
    rate_book& book = of.book;
    of.pass(method::read, length, 10e-6);
    CHECK(book.observed(method::read, length + 1) > 0);
    CHECK(book.observed(method::read, 2 * length) == 0);
    of.pass(method::read, 0, 10e-6);
    CHECK(book.observed(method::read, 0) == 0);
    CHECK(book.choose(~std::size_t{0}, {1, 2, -1, 3}) == method::read);
}

TEST_CASE("of messages that overlap only what each adds counts") {
    receiver of;
    const auto chosen = of.play_bursts({10e-6, 5e-6, -1, 20e-6}, {8e-6, 9e-6, -1, 20e-6}, 300, 32);
    CHECK(chosen[1] > 8500);
    CHECK(of.book.observed(method::split, length) == Approx(5e-6).epsilon(0.1));
}

TEST_CASE("a try among messages that overlap does not make a method look cheap") {
    receiver of;
    const auto chosen =
        of.play_bursts({10e-6, 15e-6, -1, 25e-6}, {10e-6, 9e-6, -1, 25e-6}, 1000, 32);
    CHECK(chosen[0] > 30000);
    CHECK(chosen[1] > 0);
    CHECK(of.book.observed(method::split, length) == Approx(15e-6).epsilon(0.3));
}

TEST_CASE("a method whose transfers all fail is given up") {
    receiver of;
    for (unsigned i = 0; i < 4; ++i)
        of.pass(of.book.choose(length, {10e-6, 11e-6, -1, -1}), length, 10e-6);
    unsigned tries = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        const rndv_method how = of.book.choose(length, {10e-6, 11e-6, -1, -1});
        if (how == method::split) {
            ++tries;  // and never ends well
        } else {
            of.pass(how, length, 10e-6);
        }
    }
    CHECK(tries > 0);
    CHECK(tries <= 256);
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

TEST_CASE("what a message costs before its transfer counts, whatever was observed of others") {
    receiver of;
    const rate_book::seconds truth{10e-6, -1, 20e-6, 30e-6};
    of.play(truth, truth, 500);
    const rate_book::seconds registered{50e-6, 0, 50e-6, 0};
    CHECK(of.book.choose(length, truth, registered) == method::stream);
    CHECK(of.book.choose(length, truth, {15e-6, 0, 0, 0}) == method::write);
    CHECK(of.book.choose(length, truth) == method::read);
}
