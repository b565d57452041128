#include "ucs/datastruct/mpsc_queue.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "ucs/arch/pause.hpp"

namespace {

struct work {
    ucs::datastruct::mpsc_link<work> link;
    int producer = 0;
    int number = 0;
};
using queue = ucs::datastruct::mpsc_queue<work, &work::link>;

}  // namespace

TEST_CASE("elements come out in the order of the pushes, and only the first push wakes") {
    queue handoff;
    std::vector<work> items(3);
    CHECK(handoff.empty());
    CHECK(handoff.push(items[0]));
    CHECK_FALSE(handoff.push(items[1]));
    CHECK_FALSE(handoff.push(items[2]));
    std::vector<work*> taken;
    CHECK(handoff.take_all([&](work& each) { taken.push_back(&each); }) == 3);
    CHECK(taken == std::vector<work*>{&items[0], &items[1], &items[2]});
    CHECK(handoff.take_all([](work&) {}) == 0);
}

TEST_CASE("a visit may push again without being visited in the same call") {
    queue handoff;
    work item;
    handoff.push(item);
    CHECK(handoff.take_all([&](work& each) { handoff.push(each); }) == 1);
    CHECK_FALSE(handoff.empty());
    handoff.take_all([](work&) {});
}

TEST_CASE("many threads pass all elements, each in its own order") {
    constexpr int producers = 4;
    constexpr int each_pushes = 5000;
    queue handoff;
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&handoff, p] {
            for (int i = 0; i < each_pushes; ++i) {
                auto* item = new work;
                item->producer = p;
                item->number = i;
                handoff.push(*item);
            }
        });
    }
    std::vector<int> next(producers, 0);
    int taken = 0;
    int wrong = 0;
    ucs::arch::backoff wait;
    while (taken < producers * each_pushes) {
        const unsigned count = handoff.take_all([&](work& item) {
            const std::unique_ptr<work> owned(&item);
            if (next[static_cast<std::size_t>(item.producer)]++ != item.number) ++wrong;
        });
        taken += static_cast<int>(count);
        if (count == 0) wait.wait();
    }
    for (std::thread& each : threads)
        each.join();
    CHECK(wrong == 0);
    CHECK(handoff.empty());
}
