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
    for (unsigned i = 0; i < 10; ++i)
        budget.learn(false);
    budget.learn(true);
    CHECK(budget.next() >= 2 * spin_budget::shortest);
    for (unsigned i = 0; i < 10; ++i)
        budget.learn(true);
    CHECK(budget.next() == spin_budget::longest);
}
