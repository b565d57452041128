#include "ucp/wakeup/spin_budget.hpp"

#include <catch2/catch.hpp>

using ucp::wakeup::spin_budget;

TEST_CASE("a worker that finds work while spinning continues to spin", "[wakeup]") {
    spin_budget budget;
    for (unsigned i = 0; i < 100; ++i) {
        CHECK(budget.next() == spin_budget::longest);
        budget.learn(true);
    }
}

TEST_CASE("a worker that spins in vain sleeps at once, and tries again sometimes", "[wakeup]") {
    spin_budget budget;
    unsigned spun = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        if (budget.next() == 0) continue;
        ++spun;
        budget.learn(false);
    }
    CHECK(spun >= 1000 / spin_budget::sleeps_per_try);
    CHECK(spun <= 1000 / spin_budget::sleeps_per_try + 6);
}

TEST_CASE("one success is enough to spin longer again", "[wakeup]") {
    spin_budget budget;
    for (unsigned i = 0; i < 10; ++i) {
        if (budget.next() > 0) budget.learn(false);
    }
    while (budget.next() == 0) {
    }
    budget.learn(true);
    CHECK(budget.next() == spin_budget::longest);
}

TEST_CASE("two workers that send to each other and both sleep begin to spin", "[wakeup]") {
    // A sleeping worker replies after it was woken; a spinning worker replies at once.
    constexpr auto waking = 60 * ucs::time::microsecond;
    constexpr auto replying = ucs::time::microsecond;
    spin_budget each[2];
    for (spin_budget& one : each) {
        for (unsigned i = 0; i < 20; ++i) {
            if (one.next() > 0) one.learn(false);
        }
    }
    bool asleep[2] = {true, true};
    for (unsigned turn = 0; turn < 1000; ++turn) {
        const unsigned worker = turn % 2;
        const auto reply_time = replying + (asleep[1 - worker] ? waking : 0);
        const auto budget = each[worker].next();
        asleep[worker] = budget < reply_time;
        if (budget > 0) each[worker].learn(!asleep[worker]);
    }
    CHECK_FALSE(asleep[0]);
    CHECK_FALSE(asleep[1]);
}
