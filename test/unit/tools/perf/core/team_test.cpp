#include "tools/perf/core/team.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace tools::perf;

TEST_CASE("no thread leaves a barrier before all have arrived") {
    constexpr unsigned size = 4;
    constexpr int rounds = 200;
    stop_flag stop;
    thread_barrier meeting(size);
    std::atomic<int> arrivals{0};
    std::atomic<bool> early{false};
    run_team(size, stop, [&](unsigned) {
        for (int round = 1; round <= rounds; ++round) {
            arrivals.fetch_add(1);
            meeting.wait(stop, [] {});
            if (arrivals.load() < round * static_cast<int>(size)) early = true;
        }
    });
    CHECK_FALSE(early);
    CHECK(arrivals == rounds * static_cast<int>(size));
}

TEST_CASE("the first failure ends all threads and is rethrown") {
    stop_flag stop;
    thread_barrier meeting(3);
    const auto failing = [&](unsigned index) {
        if (index == 1) throw std::runtime_error("broken");
        meeting.wait(stop, [] {});
    };
    CHECK_THROWS_WITH(run_team(3, stop, failing), "broken");
    CHECK(stop.requested());
}

TEST_CASE("sleeping threads are woken when the test is stopped") {
    struct thread final : sleeper {
        void wake() noexcept override { ++woken; }
        int woken = 0;
    };
    stop_flag stop;
    thread stays;
    thread goes;
    stop.add(stays);
    stop.add(goes);
    stop.remove(goes);
    CHECK(stays.woken == 0);
    stop.request();
    CHECK(stays.woken == 1);
    CHECK(goes.woken == 0);
}
