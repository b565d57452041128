#include "ucp/wakeup/spin_budget.hpp"

#include <catch2/catch.hpp>

using ucp::wakeup::spin_budget;

TEST_CASE("who finds work while looking goes on looking", "[wakeup]") {
    spin_budget budget;
    for (unsigned i = 0; i < 100; ++i) {
        CHECK(budget.next() == spin_budget::longest);
        budget.learn(true);
    }
}

TEST_CASE("who looks in vain sleeps at once, and tries again now and then", "[wakeup]") {
    spin_budget budget;
    unsigned looked = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        if (budget.next() == 0) continue;
        ++looked;
        budget.learn(false);
    }
    CHECK(looked >= 1000 / spin_budget::sleeps_per_try);
    CHECK(looked <= 1000 / spin_budget::sleeps_per_try + 6);
}

TEST_CASE("one success is enough to look longer again", "[wakeup]") {
    spin_budget budget;
    for (unsigned i = 0; i < 10; ++i) {
        if (budget.next() > 0) budget.learn(false);
    }
    while (budget.next() == 0) {
    }
    budget.learn(true);
    CHECK(budget.next() == spin_budget::longest);
}

TEST_CASE("two that send to each other and both sleep come to look instead", "[wakeup]") {
    // Who is asleep answers after it was woken, who looks answers at once.
    constexpr auto waking = 60 * ucs::time::microsecond;
    constexpr auto answering = ucs::time::microsecond;
    spin_budget each[2];
    for (spin_budget& one : each) {
        for (unsigned i = 0; i < 20; ++i) {
            if (one.next() > 0) one.learn(false);
        }
    }
    bool asleep[2] = {true, true};
    for (unsigned turn = 0; turn < 1000; ++turn) {
        const unsigned me = turn % 2;
        const auto comes_after = answering + (asleep[1 - me] ? waking : 0);
        const auto budget = each[me].next();
        asleep[me] = budget < comes_after;
        if (budget > 0) each[me].learn(!asleep[me]);
    }
    CHECK_FALSE(asleep[0]);
    CHECK_FALSE(asleep[1]);
}
