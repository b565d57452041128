#include "ucp/tag/budget.hpp"

#include <catch2/catch.hpp>

using ucp::eager_budget;

namespace {

// Sends messages of this length until half of the window is used; returns their number.
std::size_t spend_all(eager_budget& budget, std::size_t length) {
    std::size_t count = 1;
    while (!budget.spend(length))
        ++count;
    return count;
}

}  // namespace

TEST_CASE("credits are requested at half a window; without a grant, messages use rendezvous") {
    constexpr std::size_t window = 100'000;
    constexpr std::size_t length = 1000;
    eager_budget budget(window);
    std::size_t sent = spend_all(budget, length);
    CHECK(sent * (length + eager_budget::message_cost) <= window / 2 + 2 * length);
    CHECK(budget.next_step() == eager_budget::step::ask);
    CHECK(!budget.held());
    sent += spend_all(budget, length);
    CHECK(budget.next_step() == eager_budget::step::hold);
    CHECK(budget.held());
    CHECK(sent * (length + eager_budget::message_cost) <= window + 2 * length);
    CHECK(budget.answered());
    CHECK(!budget.held());
    CHECK(spend_all(budget, length) > 30);
}

TEST_CASE("a receiver that grants credits in time never stops its sender") {
    eager_budget budget(10'000);
    for (int i = 0; i < 1000; ++i) {
        (void)spend_all(budget, 100);
        REQUIRE(budget.next_step() == eager_budget::step::ask);
        CHECK(!budget.answered());
    }
}

TEST_CASE("a grant that was not requested changes nothing") {
    eager_budget budget(10'000);
    const std::size_t all = spend_all(budget, 100);
    eager_budget other(10'000);
    CHECK(!other.answered());
    CHECK(spend_all(other, 100) == all);
}

TEST_CASE("a window that begins without credits opens with the first grant") {
    eager_budget budget(10'000);
    CHECK(budget.hold());
    CHECK(budget.held());
    CHECK(budget.asked());
    CHECK(!budget.hold());
    CHECK(budget.answered());
    CHECK(!budget.held());
    (void)spend_all(budget, 100);
    CHECK(budget.next_step() == eager_budget::step::ask);
}

TEST_CASE("a message longer than the window, and an infinite window, do no harm") {
    eager_budget small(1000);
    CHECK(small.spend(std::size_t{1} << 40));
    CHECK(small.next_step() == eager_budget::step::ask);
    CHECK(small.spend(1));
    CHECK(small.next_step() == eager_budget::step::hold);
    eager_budget endless(~std::size_t{0});
    for (int i = 0; i < 1000; ++i)
        CHECK(!endless.spend(std::size_t{1} << 40));
}
