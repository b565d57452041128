#include "ucs/time/timer_heap.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using heap = ucs::time::timer_heap<int>;

TEST_CASE("the timer due first is next") {
    heap timers;
    const auto late = timers.add(30, 3);
    const auto early = timers.add(10, 1);
    const auto middle = timers.add(20, 2);
    CHECK(timers.next() == early);
    CHECK(timers.next_deadline() == 10);
    CHECK(timers.remove(early));
    CHECK_FALSE(timers.remove(early));
    CHECK(timers.next() == middle);
    CHECK(timers.reschedule(middle, 40));
    CHECK(timers.next() == late);
    CHECK(*timers.find(middle) == 2);
    CHECK_FALSE(timers.reschedule(early, 1));
    CHECK(timers.find(early) == nullptr);
    CHECK(timers.size() == 2);
}

TEST_CASE("any sequence of changes keeps the order of deadlines") {
    const auto seed = GENERATE(range(1U, 11U));
    INFO("seed " << seed);
    std::mt19937 random(seed);
    heap timers;
    std::map<heap::id, ucs::time::nanoseconds> model;
    for (int step = 0; step < 3000; ++step) {
        const unsigned action = random() % 4;
        if (action < 2 || model.empty()) {
            const ucs::time::nanoseconds deadline = random() % 500;
            model[timers.add(deadline, step)] = deadline;
        } else {
            auto chosen = model.begin();
            std::advance(chosen, static_cast<long>(random() % model.size()));
            if (action == 2) {
                REQUIRE(timers.remove(chosen->first));
                model.erase(chosen);
            } else {
                chosen->second = random() % 500;
                REQUIRE(timers.reschedule(chosen->first, chosen->second));
            }
        }
        REQUIRE(timers.size() == model.size());
        if (model.empty()) continue;
        auto least = ~ucs::time::nanoseconds{0};
        for (const auto& [id, deadline] : model)
            least = std::min(least, deadline);
        REQUIRE(timers.next_deadline() == least);
        REQUIRE(model.at(timers.next()) == least);
    }
}
