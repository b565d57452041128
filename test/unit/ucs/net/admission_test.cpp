#include "ucs/net/admission.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <list>
#include <random>

#include "ucs/type/unique_fd.hpp"

using ucs::net::admission;
using ucs::net::ip_address;
using ucs::net::origin;

namespace {

origin host(int number) {
    const std::array ip{std::byte{10}, std::byte{0}, std::byte(number >> 8), std::byte(number)};
    return origin::host(ip_address::v4(ip));
}

origin v6(std::array<std::uint8_t, 16> bytes) {
    return origin::host(ip_address::v6(std::as_bytes(std::span<const std::uint8_t, 16>(bytes)), 0));
}

struct connection : admission::candidate {
    origin from;
    unsigned number = 0;
};

// Candidates that a test adds and that excess() ends, as an acceptor does it.
struct crowd {
    explicit crowd(const ucs::net::admission_limits& limits) : policy(limits) {}
    connection& come(const origin& from, ucs::time::nanoseconds now = 0) {
        connection& fresh = all.emplace_back();
        fresh.from = from;
        fresh.number = ++came;
        REQUIRE(policy.add(fresh, from, now) == UCS_OK);
        return fresh;
    }
    // The numbers of those that end.
    std::vector<unsigned> trim(ucs::time::nanoseconds now = 0) {
        std::vector<unsigned> ended;
        while (auto* const surplus = policy.excess(now)) {
            ended.push_back(static_cast<connection*>(surplus)->number);
            policy.remove(*surplus);
        }
        return ended;
    }
    [[nodiscard]] std::size_t of(const origin& from) const {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& one) {
            return one.is_added() && one.from == from;
        }));
    }

    [[nodiscard]] std::size_t preferred() const {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& one) {
            return one.is_preferred() && one.is_added();
        }));
    }

    admission policy;
    std::list<connection> all;
    unsigned came = 0;
};

using numbers = std::vector<unsigned>;

}  // namespace

TEST_CASE("an origin is a host of IPv4, a network of IPv6, or a user") {
    CHECK(host(1) == host(1));
    CHECK(host(1) != host(2));
    CHECK(v6({0x20, 1, 0, 0, 0, 0, 0, 1, 1}) == v6({0x20, 1, 0, 0, 0, 0, 0, 1, 2}));
    CHECK(v6({0x20, 1, 0, 0, 0, 0, 0, 1}) != v6({0x20, 1, 0, 0, 0, 0, 0, 2}));
    CHECK(v6({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1}) != v6({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2}));
    CHECK(v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}) == host(1));
    CHECK(origin::user(7) != origin::user(8));
    CHECK(origin() == origin());
    CHECK(origin::user(0) != origin());
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    const ucs::unique_fd first(ends[0]);
    const ucs::unique_fd second(ends[1]);
    CHECK(origin::of_peer(first.get()) == origin::user(::geteuid()));
    CHECK(origin::of_peer(-1) == origin());
}

TEST_CASE("the oldest silent candidate of the origin above its quota ends") {
    crowd at({.most = 10, .most_per_origin = 3, .time_to_prove = 100});
    at.come(host(2));
    for (int i = 0; i < 3; ++i)
        at.come(host(1));
    CHECK(at.trim().empty());
    connection& fifth = at.come(host(1));
    CHECK(at.trim() == numbers{2});
    at.policy.prefer(fifth);
    at.come(host(1));
    at.come(host(1));
    CHECK(at.trim() == numbers{3, 4});
    CHECK(fifth.is_added());
    CHECK(at.of(host(2)) == 1);
}

TEST_CASE("of origins with as many candidates the one that came first pays") {
    const bool are_preferred = GENERATE(false, true);
    crowd at({.most = 5, .most_per_origin = 4, .time_to_prove = 100});
    for (int from : {7, 3, 9, 1, 5}) {
        connection& fresh = at.come(host(from));
        if (are_preferred) at.policy.prefer(fresh);
    }
    CHECK(at.trim().empty());
    for (unsigned round = 1; round <= 20; ++round) {
        connection& fresh = at.come(host(static_cast<int>(1000 - 37 * round)));
        if (are_preferred) at.policy.prefer(fresh);
        CHECK(at.trim() == numbers{round});
    }
    for (unsigned round = 21; round <= 25; ++round) {
        auto* const least = static_cast<connection*>(at.policy.least());
        REQUIRE(least != nullptr);
        CHECK(least->number == round);
        at.policy.remove(*least);
    }
}

TEST_CASE("of origins with as many turns the one that has waited longest is next, or pays") {
    crowd at({.most = 4,
              .most_per_origin = 4,
              .time_to_prove = 1000,
              .turn_length = 10,
              .most_waiting = 6});
    for (int from : {1, 2, 3})
        at.policy.prefer(at.come(host(from)));
    for (int from : {50, 20, 70, 10, 60, 30})  // numbers 4 to 9
        CHECK(at.come(host(from)).is_waiting());
    CHECK(at.trim().empty());
    at.come(host(40));
    CHECK(at.trim() == numbers{4});
    for (unsigned expected : {5U, 6U, 7U}) {
        auto* const next = static_cast<connection*>(at.policy.next_turn(11));
        REQUIRE(next != nullptr);
        CHECK(next->number == expected);
        at.policy.prefer(*next);
    }
}

TEST_CASE("when there are too many in all, the origin with the most silent candidates pays") {
    crowd at({.most = 5, .most_per_origin = 4, .time_to_prove = 100});
    at.come(host(1));
    for (int i = 0; i < 3; ++i)
        at.come(host(2));
    at.come(host(3));
    CHECK(at.trim().empty());
    at.come(host(4));
    CHECK(at.trim() == numbers{2});
    for (connection& each : at.all)
        at.policy.prefer(each);
    // A single silent one is left alone.
    const connection& silent = at.come(host(5));
    CHECK(at.trim() == numbers{3});
    at.policy.prefer(at.come(host(6)));
    CHECK(at.trim().size() == 1);
    CHECK(silent.is_added());
    // Of two, the older one ends.
    at.come(host(5));
    CHECK(at.trim() == numbers{7});
}

TEST_CASE("a candidate is overdue when its own deadline is over") {
    crowd at({.most = 5, .most_per_origin = 5, .time_to_prove = 100});
    connection& first = at.come(host(1), 0);
    connection& second = at.come(host(1), 50);
    CHECK(at.policy.overdue(99) == nullptr);
    CHECK(at.policy.overdue(100) == &first);
    at.policy.set_deadline(first, admission::never);
    CHECK(at.policy.overdue(149) == nullptr);
    CHECK(at.policy.overdue(150) == &second);
    at.policy.remove(second);
    at.policy.remove(second);
    CHECK(at.policy.size() == 1);
    CHECK(at.policy.least() == &first);
    at.all.clear();
    CHECK(at.policy.size() == 0);
    CHECK(at.policy.least() == nullptr);
    CHECK(at.policy.excess(0) == nullptr);
}

TEST_CASE("an origin that has used its turns waits, until one of them ends") {
    crowd at({.most = 20,
              .most_per_origin = 8,
              .time_to_prove = 1000,
              .turn_length = 100,
              .most_waiting = 6});
    for (ucs::time::nanoseconds now = 0; now < 4; ++now)
        at.policy.prefer(at.come(host(1), now));
    connection& fifth = at.come(host(1), 4);
    connection& sixth = at.come(host(1), 4);
    CHECK(fifth.is_waiting());
    CHECK(sixth.is_waiting());
    CHECK(at.policy.next_turn(99) == nullptr);
    // Other origins do not wait.
    connection& other = at.come(host(2), 5);
    CHECK_FALSE(other.is_waiting());
    at.policy.prefer(other);
    // A proof ends a turn, and the next one begins, even if it is silent.
    at.policy.remove(at.all.front());
    CHECK(at.policy.next_turn(99) == &fifth);
    CHECK(at.policy.next_turn(99) == &sixth);
    CHECK(at.policy.next_turn(99) == nullptr);
    at.policy.prefer(fifth);
    connection& late = at.come(host(1), 99);
    CHECK(late.is_waiting());
    CHECK(at.preferred() == 5);
    // The three that are left of the first ones have become as good as silent.
    CHECK(at.policy.next_turn(103) == &late);
    CHECK(at.preferred() == 2);
    CHECK(at.trim(103).empty());
}

TEST_CASE("crowds of several origins leave turns to others") {
    crowd at({.most = 256,
              .most_per_origin = 192,
              .time_to_prove = 1000,
              .turn_length = 100,
              .most_waiting = 1000});
    const auto crowd_of = [&](int number) {
        for (int i = 0; i < 100; ++i) {
            connection& fresh = at.come(host(number));
            if (!fresh.is_waiting()) at.policy.prefer(fresh);
        }
    };
    for (int number = 0; number < 3; ++number)
        crowd_of(number);
    CHECK(at.preferred() == 96 + 48 + 24);
    CHECK(at.trim().empty());
    for (int number = 10; number < 20; ++number) {
        connection& fresh = at.come(host(number));
        CHECK_FALSE(fresh.is_waiting());
        at.policy.prefer(fresh);
    }
    // In the end all have as many turns, and as many as one of them are left.
    while (auto* const next = at.policy.next_turn(100))
        at.policy.prefer(*next);
    at.trim(100);
    CHECK(at.preferred() <= 192 - 192 / 4);
    CHECK_FALSE(at.come(host(20), 100).is_waiting());
}

TEST_CASE("every candidate of honest crowds gets its turn, and none is displaced") {
    const unsigned seed = GENERATE(range(1U, 17U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int hosts = 1 + static_cast<int>(random() % 300);
    crowd at({.most = 256,
              .most_per_origin = 192,
              .time_to_prove = 10000,
              .turn_length = 250,
              .most_waiting = 1024});
    // They come at once, and each proves itself some time after its turn has begun.
    std::vector<connection*> begun;
    const auto start = [&](connection& which) {
        at.policy.prefer(which);
        begun.push_back(&which);
    };
    for (int i = 0; i < 1000; ++i) {
        connection& fresh =
            at.come(host(static_cast<int>(random() % static_cast<unsigned>(hosts))));
        if (!fresh.is_waiting()) start(fresh);
        REQUIRE(at.trim().empty());
    }
    std::size_t proven = 0;
    for (ucs::time::nanoseconds now = 1; proven < 1000 && now < 1000; ++now) {
        std::shuffle(begun.begin(), begun.end(), random);
        for (int i = 0; i < 10 && !begun.empty(); ++i, ++proven) {
            at.policy.remove(*begun.back());
            begun.pop_back();
        }
        while (auto* const next = at.policy.next_turn(now))
            start(*static_cast<connection*>(next));
        REQUIRE(at.trim(now).empty());
        REQUIRE(at.policy.size() <= 256);
    }
    CHECK(proven == 1000);
}

TEST_CASE("a turn from the start does not make a silent candidate a preferred one") {
    crowd at({.most = 20,
              .most_per_origin = 4,
              .time_to_prove = 1000,
              .turn_length = 10,
              .most_waiting = 10});
    connection& first = at.come(host(1));
    at.policy.start_turn(first, 100);
    connection& second = at.come(host(1));
    at.policy.start_turn(second, 100);
    CHECK_FALSE(first.is_preferred());
    at.policy.prefer(second);
    connection& third = at.come(host(1), 9);
    CHECK(third.is_waiting());
    // The first record of the second does not shorten its turn.
    CHECK(at.policy.next_turn(99) == nullptr);
    CHECK(second.is_preferred());
    CHECK(at.policy.next_turn(100) == &third);
    CHECK_FALSE(second.is_preferred());
}

TEST_CASE("too many that wait displace each other, the oldest of the largest crowd first") {
    crowd at({.most = 20,
              .most_per_origin = 2,
              .time_to_prove = 1000,
              .turn_length = 100,
              .most_waiting = 3});
    at.policy.prefer(at.come(host(1)));
    at.policy.prefer(at.come(host(2)));
    for (int i = 0; i < 3; ++i)
        at.come(host(1));
    CHECK(at.trim().empty());
    connection& other = at.come(host(2));
    CHECK(other.is_waiting());
    CHECK(at.trim() == numbers{3});
    for (int i = 0; i < 10; ++i)
        at.come(host(1));
    at.trim();
    CHECK(other.is_waiting());
    CHECK(at.policy.waiting() == 3);
    CHECK(at.policy.least() != &other);
}

TEST_CASE("first records displace each other rather than the few silent ones") {
    crowd at({.most = 48, .most_per_origin = 32, .time_to_prove = 100});
    const connection& silent = at.come(host(1));
    for (int i = 0; i < 100; ++i) {
        at.policy.prefer(at.come(host(1)));
        at.trim();
    }
    CHECK(silent.is_added());
    CHECK(at.of(host(1)) == 32);
    // Those of other origins neither.
    for (int i = 0; i < 100; ++i) {
        at.policy.prefer(at.come(host(2)));
        at.trim();
    }
    CHECK(silent.is_added());
    // Silent ones displace each other.
    const std::size_t preferred = at.preferred();
    for (int i = 0; i < 100; ++i) {
        at.come(host(1));
        at.trim();
    }
    CHECK_FALSE(silent.is_added());
    CHECK(at.preferred() + 6 >= preferred);
}

TEST_CASE("whatever strangers do, the limits hold and a peer with a first record stays") {
    const unsigned seed = GENERATE(range(1U, 33U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t most = 4 + random() % 60;
    const std::size_t quota = 2 + random() % (most - 2);
    crowd at({.most = most, .most_per_origin = quota, .time_to_prove = 1000});
    const int hosts = 1 + static_cast<int>(random() % 40);
    const origin honest = host(1000);
    connection& peer = at.come(honest);
    at.policy.prefer(peer);
    ucs::time::nanoseconds now = 0;
    for (int step = 0; step < 2000; ++step) {
        now += random() % 3;
        connection& fresh = at.come(host(static_cast<int>(random()) % hosts & 0xff), now);
        // Some strangers send first records, but there is always a silent one left to end.
        if (random() % 8 == 0 && at.preferred() < most / 2) at.policy.prefer(fresh);
        for (const unsigned number : at.trim(now))
            REQUIRE(number != peer.number);
        REQUIRE(at.policy.size() <= most);
        REQUIRE(at.of(fresh.from) <= quota);
        std::erase_if(at.all, [](const connection& each) { return !each.is_added(); });
        if (random() % 16 == 0) {
            auto* const gone = at.policy.least();
            if (gone != nullptr && gone != &peer) at.policy.remove(*gone);
        }
    }
    CHECK(peer.is_added());
}
