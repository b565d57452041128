#include "uct/ib/base/credits.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <vector>

using namespace uct::ib;

TEST_CASE("a send queue reserves one entry for its last request") {
    send_credits queue(4, 64);
    CHECK(queue.any());
    queue.post(false);
    queue.post(false);
    CHECK(queue.any());
    CHECK(queue.must_signal());
    queue.post(true);
    CHECK_FALSE(queue.any());
    CHECK(queue.last());
    queue.post(true);
    CHECK_FALSE(queue.last());
}

TEST_CASE("one completion implies all requests before it") {
    send_credits queue(64, 8);
    for (int i = 0; i < 10; ++i)
        queue.post(i == 6);
    CHECK(queue.unsignaled() == 3);
    CHECK(queue.complete(7) == 7);
    CHECK(queue.outstanding() == 3);
    CHECK(queue.is_complete(7));
    CHECK_FALSE(queue.is_complete(8));
    CHECK(queue.complete(7) == 0);
}

TEST_CASE("an impossible completion changes nothing") {
    send_credits queue(8, 4);
    queue.post(true);
    CHECK(queue.complete(2) == 0);
    CHECK(queue.complete(~std::uint32_t{0}) == 0);
    CHECK(queue.outstanding() == 1);
}

TEST_CASE("numbers of requests may wrap around") {
    send_credits queue(4, 1);
    // 2^32 posts would take too long, so the numbers advance by completions.
    std::uint32_t number = 0;
    for (int i = 0; i < 1000; ++i) {
        number = queue.post(true);
        REQUIRE(queue.complete(number) == 1);
    }
    CHECK(queue.outstanding() == 0);
    // The distance decides, whatever the sign of the difference.
    queue.post(true);
    CHECK_FALSE(queue.is_complete(number + 1));
    CHECK(queue.is_complete(number - 0x40000000U));
}

TEST_CASE("the last request that fits is signaled, and every Nth is") {
    const std::uint32_t moderation = GENERATE(1U, 2U, 7U, 64U);
    send_credits queue(16, moderation);
    std::uint32_t without = 0;
    while (queue.any()) {
        const bool signaled = queue.must_signal();
        queue.post(signaled);
        without = signaled ? 0 : without + 1;
        CHECK(without < moderation);
    }
    CHECK(without == 0);
}

namespace {

// A queue pair as uct::rc::connection uses its credits.
struct sharing_pair {
    send_credits queue;
    completion_credits& shared;

    [[nodiscard]] bool has_room(std::uint32_t count = 1) const {
        return queue.any(count) && shared.may_take(queue.awaited(), count);
    }
    void post() {
        queue.post(queue.must_signal() || shared.scarce());
        shared.take();
    }
    std::uint32_t fill() {
        std::uint32_t posted = 0;
        for (; has_room(); ++posted)
            post();
        return posted;
    }
};

}  // namespace

TEST_CASE("queue pairs that never complete a request leave room for others") {
    const std::uint32_t queue_size = GENERATE(8U, 256U, 32768U);
    CAPTURE(queue_size);
    completion_credits shared(4096);
    std::vector<sharing_pair> stuck;
    for (int i = 0; i < 200; ++i) {
        stuck.push_back({send_credits(queue_size, std::min(64U, queue_size / 4)), shared});
        stuck.back().fill();
        sharing_pair honest{send_credits(queue_size, 1), shared};
        REQUIRE(honest.has_room(2));
    }
    // Each queue pair that completes requests continues for ever.
    sharing_pair honest{send_credits(queue_size, 64), shared};
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(honest.fill() > 0);
        shared.give_back(honest.queue.complete(honest.queue.newest()));
    }
}

TEST_CASE("busy queue pairs have all their room while credits are plenty") {
    completion_credits shared(4096);
    std::vector<sharing_pair> busy(8, {send_credits(256, 64), shared});
    for (sharing_pair& each : busy)
        CHECK(each.fill() == 255);
}

TEST_CASE("queue pairs that are busy at the same time get the same share of nearly all") {
    completion_credits shared(4096);
    std::vector<sharing_pair> busy(16, {send_credits(256, 64), shared});
    for (bool any = true; any;) {
        any = false;
        for (sharing_pair& each : busy) {
            if (!each.has_room()) continue;
            each.post();
            any = true;
        }
    }
    for (const sharing_pair& each : busy)
        CHECK(each.queue.outstanding() >= 170);
}

TEST_CASE("a queue pair without a share finds room when its requests complete") {
    completion_credits shared(64);
    sharing_pair one{send_credits(256, 64), shared};
    const std::uint32_t posted = one.fill();
    CHECK(posted < 64);
    CHECK(one.queue.awaited() > 0);
    std::vector<sharing_pair> others;
    for (int i = 0; i < 4; ++i) {
        others.push_back({send_credits(256, 64), shared});
        others.back().fill();
    }
    CHECK_FALSE(one.has_room());
    // Completes the last signaled request; later ones do not show.
    const std::uint32_t unnoticed = one.queue.unsignaled();
    shared.give_back(one.queue.complete(one.queue.newest() - unnoticed));
    CHECK(one.has_room());
}

TEST_CASE("queue pairs that share a completion queue neither overrun it nor starve") {
    // Random posts and completions, in the order of a device. A queue pair fails at random, and
    // then each of its requests produces a completion.
    std::mt19937 dice(GENERATE(1U, 2U, 3U, 4U, 5U));
    const auto size = static_cast<std::uint32_t>(4 + dice() % 12);
    completion_credits shared(size);
    constexpr std::size_t pairs = 5;
    struct pair {
        send_credits queue{8, 4};
        std::deque<std::pair<std::uint32_t, bool>> under_way;  // number, signaled
        std::uint64_t posted = 0;
    };
    std::vector<pair> all(pairs);
    for (int step = 0; step < 20'000; ++step) {
        pair& one = all[dice() % pairs];
        if (dice() % 2 == 0 && one.queue.any() && shared.may_take(one.queue.awaited())) {
            const bool signaled = one.queue.must_signal() || shared.scarce();
            one.under_way.emplace_back(one.queue.post(signaled), signaled);
            shared.take();
            ++one.posted;
        } else if (!one.under_way.empty()) {
            // The device completes some, which shows with the first signaled one.
            std::size_t last = one.under_way.size();
            for (std::size_t i = 0; i < one.under_way.size() && last == one.under_way.size(); ++i) {
                if (one.under_way[i].second) last = i;
            }
            if (last == one.under_way.size()) continue;
            const std::uint32_t number = one.under_way[last].first;
            shared.give_back(one.queue.complete(number));
            one.under_way.erase(one.under_way.begin(),
                                one.under_way.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        }
        std::size_t outstanding = 0;
        bool shows = false;
        for (const pair& each : all) {
            outstanding += each.under_way.size();
            bool own = false;
            for (const auto& request : each.under_way)
                own = own || request.second;
            shows = shows || own;
            // A queue pair that gets no credits waits for a completion of its own, unless nothing
            // is outstanding.
            if (shared.any() && !shared.may_take(each.queue.awaited())) REQUIRE(own);
        }
        REQUIRE(outstanding == shared.used());
        REQUIRE(outstanding <= size);
        // A queue pair that waits for room has something to wait for.
        if (!shared.any()) REQUIRE(shows);
    }
    for (const pair& each : all)
        CHECK(each.posted > 0);
}
