#include <linux/tcp.h>

#include <catch2/catch.hpp>

#include "ucs/net/reply_state.hpp"

using namespace ucs::net;

TEST_CASE("a peer that owes a reply at several consecutive checks is lost") {
    silence_watch watch;
    CHECK_FALSE(watch.check(true, 50, 100));
    CHECK_FALSE(watch.check(true, 50, 200));
    CHECK_FALSE(watch.check(true, 50, 300));
    CHECK(watch.check(true, 50, 400));
}

TEST_CASE("received data between two checks resets the count") {
    silence_watch watch;
    for (std::uint64_t i = 1; i <= 3; ++i)
        CHECK_FALSE(watch.check(true, 50, i * 100));
    CHECK_FALSE(watch.check(true, 350, 400));
    CHECK_FALSE(watch.check(true, 350, 500));
    CHECK_FALSE(watch.check(true, 350, 600));
    CHECK(watch.check(true, 350, 700));
}

TEST_CASE("a peer that owes nothing may be silent, the count begins when it owes a reply") {
    silence_watch watch;
    for (std::uint64_t i = 1; i <= 100; ++i)
        CHECK_FALSE(watch.check(false, 50, i * 100));
    // It was asked just now.
    for (std::uint64_t i = 101; i <= 103; ++i)
        CHECK_FALSE(watch.check(true, 50, i * 100));
    CHECK(watch.check(true, 50, 10400));
}

TEST_CASE("one check after a long pause counts once") {
    silence_watch watch;
    CHECK_FALSE(watch.check(true, 50, 100));
    CHECK_FALSE(watch.check(true, 50, 1'000'000'000));
}

TEST_CASE("one lost probe of a full window means no reply owed, three do") {
    tcp_info seen{};
    bool unsent = false;
    const auto is_reply_due = [&] { return reply_state_in(seen, unsent, 0).is_reply_due; };
    CHECK_FALSE(is_reply_due());
    seen.tcpi_probes = 1;
    CHECK_FALSE(is_reply_due());
    unsent = true;
    seen.tcpi_backoff = 1;
    CHECK_FALSE(is_reply_due());
    seen.tcpi_backoff = 0;  // the kernel could not send it: there is no way out
    CHECK(is_reply_due());
    seen.tcpi_probes = 3;
    CHECK(is_reply_due());
    seen.tcpi_probes = 0;
    seen.tcpi_unacked = 1;
    CHECK(is_reply_due());
}
