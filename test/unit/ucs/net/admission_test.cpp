// Tests of the policy for unauthenticated connections.
#include "ucs/net/admission.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <list>
#include <random>

#include "test/support/descriptor_limit.hpp"
#include "test/support/socket_pair.hpp"

using namespace ucs::net;

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

// Candidates that a test adds and that excess() removes, as an acceptor does.
struct admission_fixture {
    explicit admission_fixture(const admission_limits& limits,
                               ucs::time::nanoseconds turn_length = 0, std::size_t most_waiting = 0)
        : policy({limits.most, limits.most_per_origin, limits.time_to_prove, turn_length,
                  most_waiting}) {}
    connection& add_candidate(const origin& from, ucs::time::nanoseconds now = 0) {
        connection& fresh = all.emplace_back();
        fresh.from = from;
        fresh.number = ++added;
        REQUIRE(policy.add(fresh, from, now) == UCS_OK);
        return fresh;
    }
    // Removes the excess candidates and returns their numbers.
    std::vector<unsigned> trim(ucs::time::nanoseconds now = 0) {
        std::vector<unsigned> ended;
        while (auto* const surplus = policy.excess(now)) {
            ended.push_back(static_cast<connection*>(surplus)->number);
            policy.remove(*surplus);
        }
        return ended;
    }
    template<class Condition>
    [[nodiscard]] std::size_t count(Condition&& holds) const {
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [&](const auto& one) { return one.is_added() && holds(one); }));
    }
    [[nodiscard]] std::size_t count_from(const origin& from) const {
        return count([&](const connection& one) { return one.from == from; });
    }
    [[nodiscard]] std::size_t preferred() const {
        return count([](const connection& one) { return one.is_preferred(); });
    }

    admission policy;
    std::list<connection> all;
    unsigned added = 0;
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
    const test::socket_pair ends(SOCK_STREAM);
    CHECK(origin::of_peer(ends.near.get()) == origin::user(::geteuid()));
    CHECK(origin::of_peer(-1) == origin());
}

TEST_CASE("the oldest silent candidate of the origin above its quota ends") {
    admission_fixture fixture({.most = 10, .most_per_origin = 3, .time_to_prove = 100});
    fixture.add_candidate(host(2));
    for (int i = 0; i < 3; ++i)
        fixture.add_candidate(host(1));
    CHECK(fixture.trim().empty());
    connection& fifth = fixture.add_candidate(host(1));
    CHECK(fixture.trim() == numbers{2});
    fixture.policy.prefer(fifth);
    fixture.add_candidate(host(1));
    fixture.add_candidate(host(1));
    CHECK(fixture.trim() == numbers{3, 4});
    CHECK(fifth.is_added());
    CHECK(fixture.count_from(host(2)) == 1);
}

TEST_CASE("of origins with equally many candidates the oldest candidate ends") {
    const bool are_preferred = GENERATE(false, true);
    admission_fixture fixture({.most = 5, .most_per_origin = 4, .time_to_prove = 100});
    for (int from : {7, 3, 9, 1, 5}) {
        connection& fresh = fixture.add_candidate(host(from));
        if (are_preferred) fixture.policy.prefer(fresh);
    }
    CHECK(fixture.trim().empty());
    for (unsigned round = 1; round <= 20; ++round) {
        connection& fresh = fixture.add_candidate(host(static_cast<int>(1000 - 37 * round)));
        if (are_preferred) fixture.policy.prefer(fresh);
        CHECK(fixture.trim() == numbers{round});
    }
    for (unsigned round = 21; round <= 25; ++round) {
        auto* const least = static_cast<connection*>(fixture.policy.least());
        REQUIRE(least != nullptr);
        CHECK(least->number == round);
        fixture.policy.remove(*least);
    }
}

TEST_CASE("of origins with equally many turns the longest waiting candidate is next, or ends") {
    admission_fixture fixture({.most = 4, .most_per_origin = 4, .time_to_prove = 1000}, 10, 6);
    for (int from : {1, 2, 3})
        fixture.policy.prefer(fixture.add_candidate(host(from)));
    for (int from : {50, 20, 70, 10, 60, 30})  // numbers 4 to 9
        CHECK(fixture.add_candidate(host(from)).is_waiting());
    CHECK(fixture.trim().empty());
    fixture.add_candidate(host(40));
    CHECK(fixture.trim() == numbers{4});
    for (unsigned expected : {5U, 6U, 7U}) {
        auto* const next = static_cast<connection*>(fixture.policy.next_turn(11));
        REQUIRE(next != nullptr);
        CHECK(next->number == expected);
        fixture.policy.prefer(*next);
    }
}

TEST_CASE("if there are too many in total, the origin with the most silent candidates loses one") {
    admission_fixture fixture({.most = 5, .most_per_origin = 4, .time_to_prove = 100});
    fixture.add_candidate(host(1));
    for (int i = 0; i < 3; ++i)
        fixture.add_candidate(host(2));
    fixture.add_candidate(host(3));
    CHECK(fixture.trim().empty());
    fixture.add_candidate(host(4));
    CHECK(fixture.trim() == numbers{2});
    for (connection& each : fixture.all)
        fixture.policy.prefer(each);
    // A single silent candidate is kept.
    const connection& silent = fixture.add_candidate(host(5));
    CHECK(fixture.trim() == numbers{3});
    fixture.policy.prefer(fixture.add_candidate(host(6)));
    CHECK(fixture.trim().size() == 1);
    CHECK(silent.is_added());
    // The older one of two silent candidates ends.
    fixture.add_candidate(host(5));
    CHECK(fixture.trim() == numbers{7});
}

TEST_CASE("a candidate is overdue after its own deadline") {
    admission_fixture fixture({.most = 5, .most_per_origin = 5, .time_to_prove = 100});
    connection& first = fixture.add_candidate(host(1), 0);
    connection& second = fixture.add_candidate(host(1), 50);
    CHECK(fixture.policy.overdue(99) == nullptr);
    CHECK(fixture.policy.overdue(100) == &first);
    fixture.policy.set_deadline(first, admission::never);
    CHECK(fixture.policy.overdue(149) == nullptr);
    CHECK(fixture.policy.overdue(150) == &second);
    fixture.policy.remove(second);
    fixture.policy.remove(second);
    CHECK(fixture.policy.size() == 1);
    CHECK(fixture.policy.least() == &first);
    fixture.all.clear();
    CHECK(fixture.policy.size() == 0);
    CHECK(fixture.policy.least() == nullptr);
    CHECK(fixture.policy.excess(0) == nullptr);
}

TEST_CASE("an origin that has used its turns waits until one of them ends") {
    admission_fixture fixture({.most = 20, .most_per_origin = 8, .time_to_prove = 1000}, 100, 6);
    for (ucs::time::nanoseconds now = 0; now < 4; ++now)
        fixture.policy.prefer(fixture.add_candidate(host(1), now));
    connection& fifth = fixture.add_candidate(host(1), 4);
    connection& sixth = fixture.add_candidate(host(1), 4);
    CHECK(fifth.is_waiting());
    CHECK(sixth.is_waiting());
    CHECK(fixture.policy.next_turn(99) == nullptr);
    // Other origins do not wait.
    connection& other = fixture.add_candidate(host(2), 5);
    CHECK_FALSE(other.is_waiting());
    fixture.policy.prefer(other);
    // An authentication ends a turn, and the next candidate begins, even if it is silent.
    fixture.policy.remove(fixture.all.front());
    CHECK(fixture.policy.next_turn(99) == &fifth);
    CHECK(fixture.policy.next_turn(99) == &sixth);
    CHECK(fixture.policy.next_turn(99) == nullptr);
    fixture.policy.prefer(fifth);
    connection& late = fixture.add_candidate(host(1), 99);
    CHECK(late.is_waiting());
    CHECK(fixture.preferred() == 5);
    // The remaining three of the first candidates now count as silent.
    CHECK(fixture.policy.next_turn(103) == &late);
    CHECK(fixture.preferred() == 2);
    CHECK(fixture.trim(103).empty());
}

TEST_CASE("floods from several origins leave turns to others") {
    admission_fixture fixture({.most = 256, .most_per_origin = 192, .time_to_prove = 1000}, 100,
                              1000);
    const auto crowd_of = [&](int number) {
        for (int i = 0; i < 100; ++i) {
            connection& fresh = fixture.add_candidate(host(number));
            if (!fresh.is_waiting()) fixture.policy.prefer(fresh);
        }
    };
    for (int number = 0; number < 3; ++number)
        crowd_of(number);
    CHECK(fixture.preferred() == 96 + 48 + 24);
    CHECK(fixture.trim().empty());
    for (int number = 10; number < 20; ++number) {
        connection& fresh = fixture.add_candidate(host(number));
        CHECK_FALSE(fresh.is_waiting());
        fixture.policy.prefer(fresh);
    }
    // In the end all origins have equally many turns, and the turns of one origin are left.
    while (auto* const next = fixture.policy.next_turn(100))
        fixture.policy.prefer(*next);
    fixture.trim(100);
    CHECK(fixture.preferred() <= 192 - 192 / 4);
    CHECK_FALSE(fixture.add_candidate(host(20), 100).is_waiting());
}

TEST_CASE("every candidate of well-behaved origins gets its turn, and none is displaced") {
    const unsigned seed = GENERATE(range(1U, 17U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int hosts = 1 + static_cast<int>(random() % 300);
    admission_fixture fixture({.most = 256, .most_per_origin = 192, .time_to_prove = 10000}, 250,
                              1024);
    // All connect at once, and each authenticates some time after its turn has begun.
    std::vector<connection*> begun;
    const auto start = [&](connection& chosen) {
        fixture.policy.prefer(chosen);
        begun.push_back(&chosen);
    };
    for (int i = 0; i < 1000; ++i) {
        connection& fresh =
            fixture.add_candidate(host(static_cast<int>(random() % static_cast<unsigned>(hosts))));
        if (!fresh.is_waiting()) start(fresh);
        REQUIRE(fixture.trim().empty());
    }
    std::size_t proven = 0;
    for (ucs::time::nanoseconds now = 1; proven < 1000 && now < 1000; ++now) {
        std::shuffle(begun.begin(), begun.end(), random);
        for (int i = 0; i < 10 && !begun.empty(); ++i, ++proven) {
            fixture.policy.remove(*begun.back());
            begun.pop_back();
        }
        while (auto* const next = fixture.policy.next_turn(now))
            start(*static_cast<connection*>(next));
        REQUIRE(fixture.trim(now).empty());
        REQUIRE(fixture.policy.size() <= 256);
    }
    CHECK(proven == 1000);
}

TEST_CASE("a turn from the start does not make a silent candidate a preferred one") {
    admission_fixture fixture({.most = 20, .most_per_origin = 4, .time_to_prove = 1000}, 10, 10);
    connection& first = fixture.add_candidate(host(1));
    fixture.policy.start_turn(first, 100);
    connection& second = fixture.add_candidate(host(1));
    fixture.policy.start_turn(second, 100);
    CHECK_FALSE(first.is_preferred());
    fixture.policy.prefer(second);
    connection& third = fixture.add_candidate(host(1), 9);
    CHECK(third.is_waiting());
    // The first record of the second does not shorten its turn.
    CHECK(fixture.policy.next_turn(99) == nullptr);
    CHECK(second.is_preferred());
    CHECK(fixture.policy.next_turn(100) == &third);
    CHECK_FALSE(second.is_preferred());
}

TEST_CASE(
    "too many waiting candidates displace each other, the oldest of the largest origin first") {
    admission_fixture fixture({.most = 20, .most_per_origin = 2, .time_to_prove = 1000}, 100, 3);
    fixture.policy.prefer(fixture.add_candidate(host(1)));
    fixture.policy.prefer(fixture.add_candidate(host(2)));
    for (int i = 0; i < 3; ++i)
        fixture.add_candidate(host(1));
    CHECK(fixture.trim().empty());
    connection& other = fixture.add_candidate(host(2));
    CHECK(other.is_waiting());
    CHECK(fixture.trim() == numbers{3});
    for (int i = 0; i < 10; ++i)
        fixture.add_candidate(host(1));
    fixture.trim();
    CHECK(other.is_waiting());
    CHECK(fixture.policy.waiting() == 3);
    CHECK(fixture.policy.least() != &other);
}

TEST_CASE("candidates with first records displace each other rather than the few silent ones") {
    admission_fixture fixture({.most = 48, .most_per_origin = 32, .time_to_prove = 100});
    const connection& silent = fixture.add_candidate(host(1));
    for (int i = 0; i < 100; ++i) {
        fixture.policy.prefer(fixture.add_candidate(host(1)));
        fixture.trim();
    }
    CHECK(silent.is_added());
    CHECK(fixture.count_from(host(1)) == 32);
    // Candidates of other origins do not displace it either.
    for (int i = 0; i < 100; ++i) {
        fixture.policy.prefer(fixture.add_candidate(host(2)));
        fixture.trim();
    }
    CHECK(silent.is_added());
    // Silent ones displace each other.
    const std::size_t preferred = fixture.preferred();
    for (int i = 0; i < 100; ++i) {
        fixture.add_candidate(host(1));
        fixture.trim();
    }
    CHECK_FALSE(silent.is_added());
    CHECK(fixture.preferred() + 6 >= preferred);
}

TEST_CASE("under random attacks the limits hold, and a peer with a first record stays") {
    const unsigned seed = GENERATE(range(1U, 33U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t most = 4 + random() % 60;
    const std::size_t quota = 2 + random() % (most - 2);
    admission_fixture fixture({.most = most, .most_per_origin = quota, .time_to_prove = 1000});
    const int hosts = 1 + static_cast<int>(random() % 40);
    const origin honest = host(1000);
    connection& peer = fixture.add_candidate(honest);
    fixture.policy.prefer(peer);
    ucs::time::nanoseconds now = 0;
    for (int step = 0; step < 2000; ++step) {
        now += random() % 3;
        connection& fresh =
            fixture.add_candidate(host(static_cast<int>(random()) % hosts & 0xff), now);
        // Some attackers send first records, but a silent candidate always remains to be removed.
        if (random() % 8 == 0 && fixture.preferred() < most / 2) fixture.policy.prefer(fresh);
        for (const unsigned number : fixture.trim(now))
            REQUIRE(number != peer.number);
        REQUIRE(fixture.policy.size() <= most);
        REQUIRE(fixture.count_from(fresh.from) <= quota);
        std::erase_if(fixture.all, [](const connection& each) { return !each.is_added(); });
        if (random() % 16 == 0) {
            auto* const gone = fixture.policy.least();
            if (gone != nullptr && gone != &peer) fixture.policy.remove(*gone);
        }
    }
    CHECK(peer.is_added());
}

TEST_CASE("a share of the descriptors follows their limit and keeps within its bounds") {
    const test::descriptor_limit few(400);
    const std::size_t half = descriptor_share(2, 64, 16384);
    const std::size_t quarter = descriptor_share(4, 0, 1024);
    const std::size_t at_least = descriptor_share(40, 64, 1024);
    const std::size_t at_most = descriptor_share(2, 64, 150);
    CHECK(half == 200);
    CHECK(quarter == 100);
    CHECK(at_least == 64);
    CHECK(at_most == 150);
}
