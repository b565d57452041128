#include "ucp/rndv/rate_history.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "ucp/proto/stream_rate.hpp"

namespace {

using namespace ucp;
using method = ucp::rndv_method;

constexpr std::size_t length = 1 << 20;

using counts = std::array<unsigned, ucp::rndv_method_count>;

// A receiver with a clock of its own.
struct receiver {
    rate_history history;
    ucs::time::nanoseconds now = 1000;

    static ucs::time::nanoseconds nanoseconds(double seconds) {
        return static_cast<ucs::time::nanoseconds>(seconds * 1e9);
    }

    // Passes one message that overlaps with no other.
    void pass(rndv_method used, std::size_t bytes, double took) {
        history.begin(now);
        const auto began = now;
        now += nanoseconds(took);
        history.observe(used, bytes, began, now);
        now += 100;
    }

    // Returns how often each method is chosen in `rounds` messages whose true costs are `truth`.
    counts play(const rate_history::seconds& truth, const rate_history::seconds& predicted,
                unsigned rounds) {
        counts chosen{};
        for (unsigned i = 0; i < rounds; ++i) {
            const rndv_method used = history.choose(length, predicted);
            pass(used, length, truth[static_cast<std::size_t>(used)]);
            ++chosen[static_cast<std::size_t>(used)];
        }
        return chosen;
    }

    // Does the same with `width` messages that begin at the same time. Reading ends within the
    // call. With the other methods each message ends one cost after the one before, and all ends
    // are noticed only when all messages have begun.
    counts play_bursts(const rate_history::seconds& truth, const rate_history::seconds& predicted,
                       unsigned rounds, unsigned width) {
        counts chosen{};
        for (unsigned i = 0; i < rounds; ++i) {
            std::vector<std::pair<rndv_method, ucs::time::nanoseconds>> running;
            auto done = now;
            for (unsigned k = 0; k < width; ++k) {
                const rndv_method used = history.choose(length, predicted);
                ++chosen[static_cast<std::size_t>(used)];
                history.begin(now);
                const auto took = nanoseconds(truth[static_cast<std::size_t>(used)]);
                if (used == method::read) {
                    const auto began = now;
                    now += took;
                    history.observe(used, length, began, now);
                } else {
                    running.emplace_back(used, now);
                    done = std::max(done, now) + took;
                    now += 10;
                }
            }
            now = std::max(now, done);
            for (const auto& [used, began] : running)
                history.observe(used, length, began, now += 10);
            now += 100;
        }
        return chosen;
    }
};

}  // namespace

TEST_CASE("predictions decide without observations") {
    rate_history history;
    CHECK(history.choose(length, {3e-6, 2e-6, -1, 9e-6}) == method::split);
    CHECK(history.choose(2 * length, {1e-6, 2e-6, -1, 9e-6}) == method::read);
    CHECK(history.choose(4 * length, {9e-6, 8e-6, -1, 1e-6}) == method::stream);
    CHECK(history.observed(method::read, length) == 0);
}

TEST_CASE("impossible methods are never chosen") {
    receiver in;
    const auto chosen = in.play({-1, -1, -1, 5e-6}, {-1, -1, -1, 5e-6}, 1000);
    CHECK(chosen[3] == 1000);
    CHECK(in.history.choose(length, {-1, 7e-6, -1, -1}) == method::split);
}

TEST_CASE("observations overrule a wrong prediction") {
    receiver in;
    const auto chosen = in.play({50e-6, 90e-6, -1, 20e-6}, {10e-6, 30e-6, -1, 25e-6}, 1000);
    CHECK(chosen[3] > 950);
    CHECK(chosen[0] + chosen[1] > 0);  // the other methods are tried now and then
    CHECK(in.history.observed(method::stream, length) == Approx(20e-6));
}

TEST_CASE("a change of the machine is noticed") {
    receiver in;
    in.play({20e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    in.play({60e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    const auto chosen = in.play({60e-6, 30e-6, -1, 25e-6}, {20e-6, 30e-6, -1, 25e-6}, 500);
    CHECK(chosen[3] > 450);
}

TEST_CASE("much slower methods are not tried again") {
    receiver in;
    const auto chosen = in.play({10e-6, 100e-6, -1, 11e-6}, {10e-6, 100e-6, -1, 11e-6}, 1000);
    CHECK(chosen[1] == 0);
    CHECK(chosen[0] > 900);
    CHECK(chosen[3] > 0);
}

TEST_CASE("one interruption does not change the choice") {
    receiver in;
    in.play({10e-6, 100e-6, -1, 15e-6}, {10e-6, 100e-6, -1, 15e-6}, 100);
    in.pass(method::read, length, 1.0);  // not scheduled for a second
    CHECK(in.history.observed(method::read, length) < 20e-6);
}

TEST_CASE("sizes are separated by powers of two, and empty messages are ignored") {
    receiver in;
    rate_history& history = in.history;
    in.pass(method::read, length, 10e-6);
    CHECK(history.observed(method::read, length + 1) > 0);
    CHECK(history.observed(method::read, 2 * length) == 0);
    in.pass(method::read, 0, 10e-6);
    CHECK(history.observed(method::read, 0) == 0);
    CHECK(history.choose(~std::size_t{0}, {1, 2, -1, 3}) == method::read);
}

TEST_CASE("among overlapping messages only the time that each adds counts") {
    receiver in;
    const auto chosen = in.play_bursts({10e-6, 5e-6, -1, 20e-6}, {8e-6, 9e-6, -1, 20e-6}, 300, 32);
    CHECK(chosen[1] > 8500);
    CHECK(in.history.observed(method::split, length) == Approx(5e-6).epsilon(0.1));
}

TEST_CASE("a trial among overlapping messages does not make a method look cheap") {
    receiver in;
    const auto chosen =
        in.play_bursts({10e-6, 15e-6, -1, 25e-6}, {10e-6, 9e-6, -1, 25e-6}, 1000, 32);
    CHECK(chosen[0] > 30000);
    CHECK(chosen[1] > 0);
    CHECK(in.history.observed(method::split, length) == Approx(15e-6).epsilon(0.3));
}

TEST_CASE("a method whose transfers all fail is given up") {
    receiver in;
    for (unsigned i = 0; i < 4; ++i)
        in.pass(in.history.choose(length, {10e-6, 11e-6, -1, -1}), length, 10e-6);
    unsigned tries = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        const rndv_method used = in.history.choose(length, {10e-6, 11e-6, -1, -1});
        if (used == method::split) {
            ++tries;  // and fails every time
        } else {
            in.pass(used, length, 10e-6);
        }
    }
    CHECK(tries > 0);
    CHECK(tries <= 256);
}

TEST_CASE("the streaming rate follows observations and reports a large change") {
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
    rate.observe(length, 0);  // no time passed: no information
    rate.observe(length, 1.0);
    CHECK_FALSE(rate.outdated());
}

TEST_CASE("preparation costs of a message count in addition to observations") {
    receiver in;
    const rate_history::seconds truth{10e-6, -1, 20e-6, 30e-6};
    in.play(truth, truth, 500);
    const rate_history::seconds registered{50e-6, 0, 50e-6, 0};
    CHECK(in.history.choose(length, truth, registered) == method::stream);
    CHECK(in.history.choose(length, truth, {15e-6, 0, 0, 0}) == method::write);
    CHECK(in.history.choose(length, truth) == method::read);
}
