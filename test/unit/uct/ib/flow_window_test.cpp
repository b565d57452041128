#include "uct/ib/rc/base/flow_window.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>

using namespace uct::rc;

TEST_CASE("a sender makes a soft request at half of its window, and a hard one at a quarter") {
    flow_window window({8, 4, 2});
    for (int i = 0; i < 4; ++i) {
        CHECK(window.bits_of_next() == flow_nothing);
        window.sent();
    }
    CHECK(window.bits_of_next() == flow_soft_request);
    window.sent();
    CHECK(window.bits_of_next() == flow_nothing);
    window.sent();
    CHECK(window.bits_of_next() == flow_hard_request);
    window.sent();
    window.sent();
    CHECK_FALSE(window.open());
    CHECK_FALSE(window.arrived(flow_grant));
    CHECK(window.left() == 8);
}

TEST_CASE("a soft request is granted with the next message, a hard one at once") {
    flow_window window({8, 4, 2});
    CHECK_FALSE(window.arrived(flow_soft_request));
    CHECK_FALSE(window.must_grant_now());
    CHECK(window.bits_of_next() == flow_grant);
    window.sent();
    CHECK(window.bits_of_next() == flow_nothing);
    CHECK_FALSE(window.arrived(flow_soft_request));
    CHECK(window.arrived(flow_hard_request));
    CHECK(window.must_grant_now());
    window.granted_alone();
    CHECK_FALSE(window.must_grant_now());
    CHECK(window.bits_of_next() == flow_nothing);
}

TEST_CASE("a hard request that could not be granted alone is granted with a message, too") {
    flow_window window({8, 4, 2});
    CHECK(window.arrived(flow_hard_request));
    CHECK((window.bits_of_next() & flow_grant) != 0);
    window.sent();
    CHECK_FALSE(window.must_grant_now());
}

TEST_CASE("a hard request after a granted soft one is not granted again") {
    flow_window window({8, 4, 2});
    CHECK_FALSE(window.arrived(flow_soft_request));
    CHECK(window.bits_of_next() == flow_grant);
    window.sent();
    CHECK_FALSE(window.arrived(flow_hard_request));
    CHECK(window.bits_of_next() == flow_nothing);
    // In the next window both requests count.
    CHECK_FALSE(window.arrived(flow_soft_request));
    CHECK(window.arrived(flow_hard_request));
    window.granted_alone();
    window.grant_acknowledged();
    // A sender that only makes hard requests gets a grant for each.
    CHECK(window.arrived(flow_hard_request));
    window.granted_alone();
    window.grant_acknowledged();
    CHECK(window.arrived(flow_hard_request));
}

TEST_CASE("hard requests of a peer that does not receive grants are granted once at a time") {
    flow_window window({8, 4, 2});
    REQUIRE(window.arrived(flow_hard_request));
    window.granted_alone();
    for (int i = 0; i < 255; ++i)
        REQUIRE_FALSE(window.arrived(flow_hard_request));
    CHECK_FALSE(window.must_grant_now());
    window.grant_acknowledged();
    CHECK(window.must_grant_now());
    window.granted_alone();
    window.grant_acknowledged();
    CHECK_FALSE(window.must_grant_now());
}

TEST_CASE("a message grants the hard request that waits behind a grant") {
    flow_window window({8, 4, 2});
    REQUIRE(window.arrived(flow_hard_request));
    window.granted_alone();
    CHECK_FALSE(window.arrived(flow_hard_request));
    CHECK(window.bits_of_next() == flow_grant);
    window.sent();
    window.grant_acknowledged();
    CHECK_FALSE(window.must_grant_now());
}

TEST_CASE("a fast sender is a bounded number of messages ahead of a slow receiver") {
    constexpr flow_window::limits limits{16, 8, 4};
    flow_window sender(limits);
    flow_window receiver(limits);
    std::deque<std::uint8_t> in_flight;
    std::size_t most = 0;
    for (int taken = 0; taken < 10'000; ++taken) {
        for (; sender.open(); sender.sent())
            in_flight.push_back(sender.bits_of_next());
        most = std::max(most, in_flight.size());
        REQUIRE_FALSE(in_flight.empty());
        const bool demanded = receiver.arrived(in_flight.front());
        in_flight.pop_front();
        if (demanded) {
            receiver.granted_alone();
            static_cast<void>(sender.arrived(flow_grant));
            receiver.grant_acknowledged();
        } else if (taken % 3 == 0) {
            static_cast<void>(sender.arrived(receiver.bits_of_next() & flow_grant));
            receiver.sent();
            static_cast<void>(receiver.arrived(flow_grant));  // not the direction under test
        }
    }
    CHECK(most > limits.size);
    CHECK(most < limits.size + limits.soft);
}

TEST_CASE("without a size nothing is bounded, but requests are granted") {
    flow_window window({0, 0, 0});
    for (int i = 0; i < 10'000; ++i) {
        CHECK(window.bits_of_next() == flow_nothing);
        window.sent();
    }
    CHECK(window.open());
    CHECK(window.arrived(flow_hard_request));
    CHECK(window.bits_of_next() == flow_grant);
}

TEST_CASE(
    "two sides that send as they like never stop for ever, and never have more than a window") {
    // Messages in flight in both directions, delivered in order.
    const std::uint32_t size = GENERATE(4U, 5U, 16U);
    std::mt19937 dice(GENERATE(1U, 2U, 3U));
    const flow_window::limits limits{size, size / 2, std::max(1U, size / 4)};
    flow_window side[2] = {flow_window(limits), flow_window(limits)};
    std::deque<std::uint8_t> in_flight[2];  // to side 0 and to side 1
    std::uint64_t sent[2] = {0, 0};
    const auto grant = [&](int from) {
        in_flight[1 - from].push_back(flow_grant | 0x80);  // 0x80: no message
        side[from].granted_alone();
    };
    for (int step = 0; step < 50'000; ++step) {
        const int receiving = static_cast<int>(dice() % 2);
        if (dice() % 3 == 0 && side[receiving].open()) {
            in_flight[1 - receiving].push_back(side[receiving].bits_of_next());
            side[receiving].sent();
            ++sent[receiving];
        } else if (!in_flight[receiving].empty()) {
            const std::uint8_t bits = in_flight[receiving].front();
            in_flight[receiving].pop_front();
            if (side[receiving].arrived(bits & all_flow_bits)) grant(receiving);
            if ((bits & 0x80) == 0) continue;
            side[1 - receiving].grant_acknowledged();
            if (side[1 - receiving].must_grant_now()) grant(1 - receiving);
        }
        for (const auto& each : in_flight) {
            std::size_t messages = 0;
            for (const std::uint8_t bits : each)
                messages += (bits & 0x80) == 0 ? 1 : 0;
            REQUIRE(messages < size + limits.soft);
        }
        const bool stuck =
            !side[0].open() && !side[1].open() && in_flight[0].empty() && in_flight[1].empty();
        REQUIRE_FALSE(stuck);
    }
    CHECK(sent[0] > size);
    CHECK(sent[1] > size);
}
