#include "uct/ib/ud/base/send_window.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::ud;
using namespace ucs::time;

namespace {

constexpr send_window::limits bounds{16, 8, {20 * millisecond, millisecond, 500 * millisecond}};

// A window that owns its packets and starts just before the numbers wrap around.
struct filled {
    explicit filled(std::uint32_t count, const send_window::limits& with = bounds)
        : window(with, first), packets(count) {
        for (tx_packet& each : packets)
            window.add(each);
    }
    // Sends all packets that may be sent.
    std::vector<std::uint32_t> send(nanoseconds now) {
        std::vector<std::uint32_t> numbers;
        while (tx_packet* next = window.next_to_send()) {
            window.note_sent(*next, now);
            numbers.push_back(static_cast<std::uint32_t>(next->number - first));
        }
        return numbers;
    }
    bool acknowledge(std::uint32_t expected, std::uint64_t beyond, nanoseconds now) {
        const bool fine = window.acknowledge(first + expected, beyond, now, done);
        while (!done.empty()) {
            ended.push_back(static_cast<std::uint32_t>(done.front().number - first));
            done.pop_front();
        }
        return fine;
    }
    ~filled() {
        packet_list left;
        window.abandon(left);
        left.clear();
    }

    static constexpr psn first{0xfffffffdU};
    send_window window;
    std::vector<tx_packet> packets;
    packet_list done;
    std::vector<std::uint32_t> ended;
};

using numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a window takes as many packets as it has room for") {
    filled some(10);
    CHECK(some.window.has_room(6));
    CHECK_FALSE(some.window.has_room(7));
    CHECK(some.window.held() == 10);
    CHECK(some.window.oldest() == filled::first);
    CHECK(some.window.next() == filled::first + 10);
}

TEST_CASE("packets are sent in order, as many as are allowed") {
    filled some(10);
    CHECK(some.send(1) == numbers{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(some.window.under_way() == 8);
    REQUIRE(some.acknowledge(3, 0, 2));
    CHECK(some.ended == numbers{0, 1, 2});
    // The window has grown.
    CHECK(some.window.congestion.allowed() == 11);
    CHECK(some.send(3) == numbers{8, 9});
    REQUIRE(some.acknowledge(10, 0, 4));
    CHECK(some.window.empty());
    CHECK(some.window.deadline() == 0);
}

TEST_CASE("old acknowledgements, and those of packets that were never sent, change nothing") {
    filled some(10);
    some.send(1);
    REQUIRE(some.acknowledge(4, 0, 2));
    CHECK_FALSE(some.acknowledge(3, ~std::uint64_t{0}, 3));
    CHECK_FALSE(some.acknowledge(11, 0, 3));
    CHECK_FALSE(some.acknowledge(0x80000000U, 0, 3));
    CHECK(some.ended.size() == 4);
    CHECK(some.window.oldest() == filled::first + 4);
}

TEST_CASE("only a packet that three later ones have overtaken is sent again") {
    filled some(8);
    some.send(1);
    REQUIRE(some.acknowledge(1, 0b11, 1000));
    CHECK(some.send(1001).empty());
    REQUIRE(some.acknowledge(1, 0b111, 2000));
    CHECK(some.send(2001) == numbers{1});
    CHECK(some.window.repeated() == 1);
    // One more later packet says nothing about the copy that was just sent.
    REQUIRE(some.acknowledge(1, 0b1111, 2002));
    CHECK(some.send(2003).empty());
    REQUIRE(some.acknowledge(8, 0, 3000));
    CHECK(some.window.empty());
    CHECK(some.window.under_way() == 0);
}

TEST_CASE("losses halve the window once for all packets in flight") {
    filled some(8);
    some.send(1);
    REQUIRE(some.acknowledge(0, 0b1110110, 1000));  // 0, 1 and 4 are missing
    CHECK(some.window.congestion.allowed() == 4);
    some.send(1001);
    REQUIRE(some.acknowledge(0, 0b1110110, 100 * millisecond));
    CHECK(some.window.congestion.allowed() == 4);
}

TEST_CASE("a loss among packets added after a first loss halves the window again") {
    filled some(8);
    some.send(1);
    REQUIRE(some.acknowledge(0, 0b1110, 1000));  // 0 and 1 are missing
    CHECK(some.window.congestion.allowed() == 4);
    some.send(1001);
    REQUIRE(some.acknowledge(8, 0, 2000));
    CHECK(some.window.congestion.allowed() == 5);
    std::vector<tx_packet> more(8);
    for (tx_packet& each : more)
        some.window.add(each);
    some.send(2001);
    REQUIRE(some.acknowledge(8, 0b1110, 3000));
    CHECK(some.window.congestion.allowed() == 2);
    packet_list left;
    some.window.abandon(left);
    left.clear();
}

TEST_CASE("when the timer expires, all packets that have not arrived are sent again") {
    filled some(6);
    some.send(1);
    REQUIRE(some.acknowledge(0, 0b10, 2));  // 2 has arrived
    const nanoseconds due = some.window.deadline();
    CHECK(due == 1 + 20 * millisecond);
    some.window.expired();
    CHECK(some.window.deadline() == 0);
    CHECK(some.window.congestion.allowed() == 4);
    CHECK(some.send(due) == numbers{0, 1, 3, 4});
    // The timeout has doubled.
    CHECK(some.window.deadline() == due + 40 * millisecond);
    REQUIRE(some.acknowledge(6, 0, due + 1));
    CHECK(some.window.empty());
}

TEST_CASE("a packet that was reported as arrived and is expected again is waited for") {
    filled some(3);
    some.send(1);
    REQUIRE(some.acknowledge(0, 0b11, 2));
    REQUIRE(some.acknowledge(1, 0, 3));
    CHECK(some.window.under_way() == 1);
    const nanoseconds due = some.window.deadline();
    REQUIRE(due != 0);
    some.window.expired();
    CHECK(some.send(due) == numbers{1});
    REQUIRE(some.acknowledge(3, 0, due + 1));
    CHECK(some.window.empty());
    CHECK(some.window.under_way() == 0);
    CHECK(some.ended == numbers{0, 1, 2});
}

TEST_CASE("a packet that was sent twice measures no round trip") {
    filled some(1);
    some.send(1);
    some.window.expired();
    some.send(100 * millisecond);
    REQUIRE(some.acknowledge(1, 0, 101 * millisecond));
    CHECK(some.window.timer.smoothed() == 0);
}

TEST_CASE("a receiver that lost its state gets all packets again") {
    filled some(6);
    some.send(1);
    REQUIRE(some.acknowledge(1, 0b110, 2));
    some.window.start_over();
    CHECK(some.window.under_way() == 0);
    CHECK(some.send(3) == numbers{1, 2, 3, 4, 5});
}

TEST_CASE("a packet can be replaced, and all packets handed out") {
    filled some(3);
    some.send(1);
    tx_packet other;
    some.window.replace(some.packets[1], other);
    CHECK(other.number == filled::first + 1);
    some.window.expired();
    CHECK(some.send(2) == numbers{0, 1, 2});
    packet_list left;
    some.window.abandon(left);
    CHECK(left.size() == 3);
    CHECK(some.window.empty());
    CHECK(some.window.next() == filled::first + 3);
    CHECK(some.window.oldest() == some.window.next());
    left.clear();
}
