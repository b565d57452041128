// Rank 0 and the others in one thread, over pairs of sockets and with a clock that stands still:
// who is where at which time does not depend on the machine.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucg/oob/tcp_leaf.hpp"
#include "ucg/oob/tcp_root.hpp"

using namespace ucg::oob;
using ucs::time::second;

namespace {

// One rank and where its blocks go.
struct party {
    std::unique_ptr<exchange> me;
    std::vector<std::byte> into;

    ucs_status_t begin(std::size_t bytes) {
        const std::vector<std::byte> mine(bytes);
        into.assign(bytes * me->size(), std::byte{1});
        return me->begin(mine.data(), into.data(), bytes);
    }
};

std::unique_ptr<tcp_root> make_root(rank_t size, ucs::time::nanoseconds timeout,
                                    const job_key& key = {}) {
    auto made = tcp_root::make({0, size, timeout}, 0, {}, key);
    REQUIRE(made);
    return std::move(*made);
}

std::unique_ptr<tcp_leaf> connect(tcp_root& root, rank_t rank,
                                  ucs::time::nanoseconds timeout = 40 * second,
                                  const job_key& key = {}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    root.adopt(ucs::unique_fd(ends[0]));
    return std::make_unique<tcp_leaf>(membership{rank, root.size(), timeout}, std::uint64_t{0},
                                      tcp_place{"127.0.0.1", 1}, ucs::unique_fd(ends[1]), key);
}

// Rank 0 first. Enough turns for everything that can happen without time.
void turn(std::vector<party>& all) {
    for (int i = 0; i < 10; ++i)
        for (party& each : all)
            static_cast<void>(each.me->test());
}

struct star {
    tcp_root* root;
    std::vector<party> all;

    star(rank_t size, ucs::time::nanoseconds timeout) {
        auto made = make_root(size, timeout);
        root = made.get();
        all.push_back({std::move(made), {}});
    }
    void join(rank_t rank, ucs::time::nanoseconds timeout = 40 * second) {
        all.push_back({connect(*root, rank, timeout), {}});
    }
};

}  // namespace

TEST_CASE("star: all are told which ranks did not come") {
    const test::log_capture log;
    const test::virtual_time clock;
    // Only rank 0 has a short time: the others learn it from there.
    star of(8, second);
    of.join(1);
    of.join(2);
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(of.all);
    test::virtual_time::now += second - 1;
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_INPROGRESS);
    test::virtual_time::now += 1;
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("ranks 3-7 did not come within 1 s") == 1);
    CHECK(log.count("rank 0 says that ranks 3-7 failed it") == 2);
}

TEST_CASE("star: a rank whose time is over asks who is missing") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(4, 40 * second);
    of.join(1);
    of.join(2, second / 2);
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(of.all);
    test::virtual_time::now += second / 2;
    CHECK(of.all[2].me->test() == UCS_INPROGRESS);  // it asks
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("rank 3") == 3);
}

TEST_CASE("star: a rank 0 that does not take part answers nothing") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(2, 40 * second);
    of.join(1, second);
    REQUIRE(of.all[1].begin(8) == UCS_OK);
    CHECK(of.all[1].me->test() == UCS_INPROGRESS);
    test::virtual_time::now += second;
    CHECK(of.all[1].me->test() == UCS_ERR_TIMED_OUT);
    CHECK(log.count("it does not answer") == 1);
}

namespace {

// A listener at 127.0.0.`last`, at the port of the first one of a test; the system lets connections
// come about whether or not anybody accepts them.
ucs::unique_fd listen_at(std::uint8_t last, std::uint16_t& port) {
    const std::byte ip[] = {std::byte{127}, {}, {}, std::byte{last}};
    const ucs::net::socket_address at(ucs::net::ip_address::v4(ip), port);
    ucs::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(made.get(), at.data(), at.size()) == 0);
    REQUIRE(::listen(made.get(), 8) == 0);
    port = port_of(made.get());
    return made;
}

// Rank 1 of 2, which finds rank 0 at 127.0.0.2 or at 127.0.0.1.
std::unique_ptr<tcp_leaf> leaf_with_choice(std::uint16_t port, ucs::time::nanoseconds timeout,
                                           const job_key& key) {
    const std::byte first[] = {std::byte{127}, {}, {}, std::byte{2}};
    const std::byte second[] = {std::byte{127}, {}, {}, std::byte{1}};
    return std::make_unique<tcp_leaf>(
        membership{1, 2, timeout}, std::uint64_t{0}, tcp_place{"127.0.0.1", port},
        std::vector{ucs::net::socket_address(ucs::net::ip_address::v4(first), port),
                    ucs::net::socket_address(ucs::net::ip_address::v4(second), port)},
        key);
}

// Until the ranks have done what they can in this moment: connections take their time.
void settle(std::vector<party>& all) {
    for (int i = 0; i < 50; ++i) {
        turn(all);
        ::usleep(1000);
    }
}

job_key some_key() {
    const bool is_there = GENERATE(false, true);
    return is_there ? ucs::security::key::from_text("a key of more than 16 characters") : job_key();
}

}  // namespace

TEST_CASE("star: who is kept waiting at one address of rank 0 goes to the others") {
    const test::log_capture log;
    const test::virtual_time clock;
    const job_key key = some_key();
    std::uint16_t port = 0;
    const ucs::unique_fd silent = listen_at(2, port);
    auto root = tcp_root::make({0, 2, 40 * second}, 0, listen_at(1, port), key);
    REQUIRE(root);
    std::vector<party> all;
    all.push_back({std::move(*root), {}});
    all.push_back({leaf_with_choice(port, 40 * second, key), {}});
    for (party& each : all)
        REQUIRE(each.begin(8) == UCS_OK);
    settle(all);
    CHECK(all[1].me->test() == UCS_INPROGRESS);
    test::virtual_time::now += 5 * second;
    settle(all);
    for (party& each : all)
        CHECK(each.me->test() == UCS_OK);
}

TEST_CASE("star: a rank 0 that says nothing for long takes a rank that has come twice") {
    const test::log_capture log;
    const test::virtual_time clock;
    const job_key key = some_key();
    std::uint16_t port = 0;
    auto root = tcp_root::make({0, 2, 40 * second}, 0, listen_at(1, port), key);
    REQUIRE(root);
    std::vector<party> all;
    all.push_back({leaf_with_choice(port, 40 * second, key), {}});
    REQUIRE(all[0].begin(8) == UCS_OK);
    settle(all);
    test::virtual_time::now += 5 * second;
    settle(all);  // it leaves this address, the last one
    test::virtual_time::now += second;
    settle(all);  // and comes again
    all.push_back({std::move(*root), {}});
    REQUIRE(all[1].begin(8) == UCS_OK);
    settle(all);
    INFO(log.text());
    for (party& each : all)
        CHECK(each.me->test() == UCS_OK);
    CHECK(log.count("", ucs::log::level::warn) == 0);
}

TEST_CASE("star: who reached nobody says which address was silent") {
    const test::log_capture log;
    const test::virtual_time clock;
    const job_key key = some_key();
    std::uint16_t port = 0;
    const ucs::unique_fd silent = listen_at(2, port);
    std::vector<party> all;
    all.push_back({leaf_with_choice(port, 6 * second, key), {}});
    REQUIRE(all[0].begin(8) == UCS_OK);
    settle(all);
    test::virtual_time::now += 5 * second;
    settle(all);
    test::virtual_time::now += second;
    CHECK(all[0].me->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("refused; what listens at 127.0.0.2:") == 1);
}

TEST_CASE("star: who has only connected when a round fails is told") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(3, 40 * second);
    of.join(1);
    of.join(2);
    REQUIRE(of.all[0].begin(8) == UCS_OK);
    REQUIRE(of.all[1].begin(9) == UCS_OK);
    for (int i = 0; i < 10; ++i)
        for (const std::size_t rank : {0U, 1U})
            static_cast<void>(of.all[rank].me->test());
    CHECK(of.all[0].me->test() == UCS_ERR_INVALID_PARAM);
    CHECK(of.all[1].me->test() == UCS_ERR_INVALID_PARAM);
    // Rank 0 leaves; only then rank 2 says who it is.
    of.all[0].me.reset();
    REQUIRE(of.all[2].begin(8) == UCS_OK);
    CHECK(of.all[2].me->test() == UCS_ERR_INVALID_PARAM);
    INFO(log.text());
    CHECK(log.count("rank 1 gives 9 bytes and rank 0 8") == 1);
    CHECK(log.count("rank 0 says that rank 1 failed it") == 2);
}

TEST_CASE("star: strangers that begin to prove the job key keep no silent rank out") {
    const test::log_capture log;
    const test::virtual_time clock;
    const job_key shared = ucs::security::key::from_text("a key of more than 16 characters");
    const auto other = ucs::security::key::from_text("another one of more than 16 characters");
    auto root = make_root(2, 40 * second, shared);
    tcp_root& at = *root;
    std::vector<party> all;
    all.push_back({std::move(root), {}});
    all.push_back({connect(at, 1, 40 * second, shared), {}});  // says nothing yet
    std::vector<ucs::unique_fd> strangers;
    for (int i = 0; i < 300; ++i) {
        const ucs::security::opening client(ucs::security::opening::role::client, &other,
                                            store_purpose);
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        strangers.emplace_back(ends[1]);
        const auto said = client.output();
        REQUIRE(::send(ends[1], said.data(), said.size(), 0) == static_cast<ssize_t>(said.size()));
        at.adopt(ucs::unique_fd(ends[0]));
    }
    for (party& each : all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(all);
    for (party& each : all)
        CHECK(each.me->test() == UCS_OK);
    CHECK(log.count("have not said which rank they are") == 1);
}

TEST_CASE("star: who hears of a failed round only when rank 0 has left") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(3, 40 * second);
    of.join(1);
    of.join(2);
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(of.all);
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_OK);
    // Rank 2 hears of it only when rank 0 has left.
    for (const std::size_t rank : {0U, 1U}) {
        of.all[rank].me->release();
        REQUIRE(of.all[rank].begin(rank == 0 ? 8 : 9) == UCS_OK);
    }
    for (int i = 0; i < 10; ++i)
        for (const std::size_t rank : {0U, 1U})
            static_cast<void>(of.all[rank].me->test());
    CHECK(of.all[0].me->test() == UCS_ERR_INVALID_PARAM);
    of.all[0].me.reset();
    of.all[2].me->release();
    REQUIRE(of.all[2].begin(8) == UCS_OK);
    CHECK(of.all[2].me->test() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("star: a rank that has left may come to the next store before this one has ended") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(3, 40 * second);
    of.join(1);
    of.join(2);
    // More than the sockets hold: rank 0 goes on sending until rank 2 reads.
    for (party& each : of.all)
        REQUIRE(each.begin(1'000'000) == UCS_OK);
    const auto turn_both = [&](std::size_t other) {
        for (int i = 0; i < 1000; ++i)
            for (const std::size_t rank : {std::size_t{0}, other})
                static_cast<void>(of.all[rank].me->test());
    };
    turn_both(2);
    turn_both(1);
    REQUIRE(of.all[1].me->test() == UCS_OK);
    REQUIRE(of.all[0].me->test() == UCS_INPROGRESS);
    of.all[1].me.reset();
    of.all[1].me = connect(*of.root, 1);
    REQUIRE(of.all[1].begin(8) == UCS_OK);
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(of.all[0].me->test());
        CHECK(of.all[1].me->test() == UCS_INPROGRESS);
    }
    turn_both(2);
    CHECK(of.all[0].me->test() == UCS_OK);
    CHECK(of.all[2].me->test() == UCS_OK);
    INFO(log.text());
    CHECK(log.count("", ucs::log::level::error) == 0);
}

TEST_CASE("star: what a stranger says after it was refused is heard by nobody") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(2, 40 * second);
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    const ucs::unique_fd stranger(ends[1]);
    // A child of a fork has the socket, too, so that it stays open.
    const ucs::unique_fd of_child(::fcntl(ends[0], F_DUPFD_CLOEXEC, 0));
    of.root->adopt(ucs::unique_fd(ends[0]));
    REQUIRE(of.all[0].begin(8) == UCS_OK);
    const ucs::security::opening client(ucs::security::opening::role::client, nullptr,
                                        store_purpose);
    REQUIRE(::send(stranger.get(), client.output().data(), client.output().size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(client.output().size()));
    wire::header_bytes hello;
    wire::pack({wire::kind::hello, 1, 5}, hello);
    for (int i = 0; i < 3; ++i) {
        CHECK(::send(stranger.get(), hello.data(), hello.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(hello.size()));
        CHECK(of.all[0].me->test() == UCS_INPROGRESS);
        CHECK(of.all[0].me->test() == UCS_INPROGRESS);
    }
    INFO(log.text());
    CHECK(log.count("of a job of another size") == 1);
    CHECK(log.size() == 1);
}

TEST_CASE("star: the failure of one store is not told to ranks of the next one at its port") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(4, second);
    of.join(1);
    of.join(2);
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(of.all);
    test::virtual_time::now += second;
    for (party& each : of.all)
        REQUIRE(each.me->test() == UCS_ERR_TIMED_OUT);
    // Ranks 1 and 2 have heard of it, and try again.
    // Rank 3 comes for the first time.
    const auto again = [&](rank_t rank) {
        party made{connect(*of.root, rank), {}};
        REQUIRE(made.begin(8) == UCS_OK);
        return made;
    };
    const party first = again(1);
    const party second_again = again(2);
    const party late = again(3);
    CHECK(first.me->test() == UCS_INPROGRESS);
    CHECK(late.me->test() == UCS_INPROGRESS);
    of.all[0].me.reset();
    CHECK(late.me->test() == UCS_ERR_TIMED_OUT);
    for (int i = 0; i < 4; ++i) {
        CHECK(first.me->test() == UCS_INPROGRESS);
        CHECK(second_again.me->test() == UCS_INPROGRESS);
    }
    INFO(log.text());
    CHECK(log.count("it has left already") == 2);
}

TEST_CASE("star: a rank whose time is over when the last block comes gets its result") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(3, 40 * second);
    of.join(1, second);
    of.join(2);
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    const auto step = [&](std::size_t rank) { return of.all[rank].me->test(); };
    CHECK(step(1) == UCS_INPROGRESS);  // its greeting
    CHECK(step(2) == UCS_INPROGRESS);
    CHECK(step(0) == UCS_INPROGRESS);
    CHECK(step(0) == UCS_INPROGRESS);  // and the kernel forgets which of them came first
    CHECK(step(2) == UCS_INPROGRESS);  // its block
    CHECK(step(1) == UCS_INPROGRESS);
    test::virtual_time::now += second;
    CHECK(step(1) == UCS_INPROGRESS);  // and asks who is missing
    CHECK(step(0) == UCS_OK);
    CHECK(step(1) == UCS_OK);
    CHECK(step(2) == UCS_OK);
    INFO(log.text());
    CHECK(log.size() == 0);
}

// --- what is published and looked up ---

namespace {

using bytes = std::vector<std::byte>;

bytes block_of(rank_t rank, std::size_t size = 20) {
    return bytes(size, static_cast<std::byte>(rank + 1));
}

std::uint64_t publish(party& by, const bytes& what) {
    std::uint64_t number = ~std::uint64_t{0};
    REQUIRE(by.me->publish(what.data(), what.size(), number) == UCS_OK);
    return number;
}

struct found {
    ucs_status_t status;
    bytes block;
};

found look_up(party& by, std::uint64_t number, rank_t of, std::size_t room = 100) {
    bytes into(room);
    std::size_t size = room;
    const ucs_status_t status = by.me->look_up(number, of, into.data(), size);
    if (status == UCS_OK) into.resize(size);
    return {status, into};
}

void serve(std::vector<party>& all) {
    for (int i = 0; i < 10; ++i)
        for (party& each : all)
            each.me->serve();
}

// A round that ends well.
void meet(std::vector<party>& all) {
    for (party& each : all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(all);
    for (party& each : all) {
        REQUIRE(each.me->test() == UCS_OK);
        each.me->release();
    }
}

// Rank i of `size` has published block_of(i), and a round has followed.
struct published_star : star {
    explicit published_star(rank_t size) : star(size, 40 * second) {
        for (rank_t rank = 1; rank < size; ++rank)
            join(rank);
        for (rank_t rank = 0; rank < size; ++rank)
            CHECK(publish(all[rank], block_of(rank)) == 0);
        meet(all);
    }
};

}  // namespace

TEST_CASE("star: what ranks publish is found by all others, in any order") {
    const test::virtual_time clock;
    published_star of(4);
    // Between others' rounds, several questions at a time, and again.
    for (int again = 0; again < 2; ++again) {
        for (rank_t by = 0; by < 4; ++by)
            for (rank_t whom = 0; whom < 4; ++whom)
                CHECK(look_up(of.all[by], 0, whom).status == (by == 0 ? UCS_OK : UCS_INPROGRESS));
        serve(of.all);
        for (rank_t by = 0; by < 4; ++by)
            for (rank_t whom = 4; whom-- != 0;) {
                const found answer = look_up(of.all[by], 0, whom);
                CHECK(answer.status == UCS_OK);
                CHECK(answer.block == block_of(whom));
            }
        meet(of.all);
    }
}

TEST_CASE("star: a block too long for the room says how long it is, and is not lost") {
    const test::virtual_time clock;
    star of(2, 40 * second);
    of.join(1);
    CHECK(publish(of.all[0], block_of(0, wire::most_published)) == 0);
    CHECK(publish(of.all[1], block_of(1, 1)) == 0);
    std::uint64_t number = 0;
    const bytes long_one(wire::most_published + 1);
    for (party& each : of.all) {
        CHECK(each.me->publish(long_one.data(), long_one.size(), number) == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(number == 1);  // it is used up on all
    }
    meet(of.all);
    static_cast<void>(look_up(of.all[1], 0, 0));
    for (int i = 0; i < 100; ++i)
        serve(of.all);
    bytes into(wire::most_published);
    std::size_t size = 10;
    CHECK(of.all[1].me->look_up(0, 0, into.data(), size) == UCS_ERR_BUFFER_TOO_SMALL);
    CHECK(size == wire::most_published);
    CHECK(of.all[1].me->look_up(0, 0, into.data(), size) == UCS_OK);
    CHECK(into == block_of(0, wire::most_published));
}

TEST_CASE("star: what cannot be looked up is refused") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(2, 40 * second);
    of.join(1);
    const bytes none;
    std::uint64_t number = 0;
    CHECK(of.all[0].me->publish(none.data(), 0, number) == UCS_ERR_INVALID_PARAM);
    CHECK(publish(of.all[0], block_of(0)) == 0);
    CHECK(look_up(of.all[0], 0, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("no round has followed") == 1);
    meet(of.all);
    CHECK(look_up(of.all[0], 0, 2).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("there is no such rank") == 1);
    CHECK(look_up(of.all[0], 1, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(look_up(of.all[1], 0, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("it has published nothing under that number") == 2);
    // Rank 1 has published nothing, so it has nothing under this number.
    CHECK(look_up(of.all[0], 0, 1).status == UCS_ERR_NO_ELEM);
    CHECK(of.all[1].me->withdraw(0) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("star: rank 0 keeps a number until all have withdrawn it or left") {
    const test::virtual_time clock;
    published_star of(4);
    CHECK(of.all[0].me->withdraw(0) == UCS_INPROGRESS);
    CHECK(of.all[1].me->withdraw(0) == UCS_OK);
    CHECK(of.all[0].me->withdraw(0) == UCS_INPROGRESS);
    // A rank that left is still found.
    of.all[2].me.reset();
    CHECK(look_up(of.all[3], 0, 2).status == UCS_INPROGRESS);
    of.all[0].me->serve();
    of.all[0].me->serve();
    CHECK(look_up(of.all[3], 0, 2).block == block_of(2));
    CHECK(of.all[0].me->withdraw(0) == UCS_INPROGRESS);
    CHECK(of.all[3].me->withdraw(0) == UCS_OK);
    CHECK(of.all[0].me->withdraw(0) == UCS_OK);
    CHECK(of.all[0].me->withdraw(0) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("star: rank 0 answers whoever has begun a round that it has not begun") {
    const test::virtual_time clock;
    published_star of(3);
    REQUIRE(of.all[1].begin(1000) == UCS_OK);
    for (int i = 0; i < 3; ++i) {
        CHECK(of.all[1].me->test() == UCS_INPROGRESS);
        of.all[0].me->serve();
    }
    CHECK(look_up(of.all[1], 0, 2).status == UCS_INPROGRESS);
    of.all[0].me->serve();
    CHECK(look_up(of.all[1], 0, 2).block == block_of(2));
    // And in the middle of it.
    REQUIRE(of.all[0].begin(1000) == UCS_OK);
    CHECK(look_up(of.all[1], 0, 0).status == UCS_INPROGRESS);
    CHECK(of.all[0].me->test() == UCS_INPROGRESS);
    CHECK(look_up(of.all[1], 0, 0).block == block_of(0));
    REQUIRE(of.all[2].begin(1000) == UCS_OK);
    turn(of.all);
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_OK);
}

TEST_CASE("star: a long block for a round to come waits, and so do questions behind it") {
    const test::virtual_time clock;
    published_star of(2);
    REQUIRE(of.all[1].begin(300'000) == UCS_OK);
    for (int i = 0; i < 5; ++i) {
        CHECK(of.all[1].me->test() == UCS_INPROGRESS);
        of.all[0].me->serve();
    }
    CHECK(look_up(of.all[1], 0, 0).status == UCS_INPROGRESS);
    of.all[0].me->serve();
    REQUIRE(of.all[0].begin(300'000) == UCS_OK);
    for (int i = 0; i < 100; ++i)
        turn(of.all);
    CHECK(of.all[0].me->test() == UCS_OK);
    CHECK(of.all[1].me->test() == UCS_OK);
    serve(of.all);
    CHECK(look_up(of.all[1], 0, 0).block == block_of(0));
}

TEST_CASE("star: an early block of a wrong size, and one that says its time is over") {
    const test::log_capture log;
    const test::virtual_time clock;
    published_star of(3);
    REQUIRE(of.all[1].begin(9) == UCS_OK);
    static_cast<void>(of.all[1].me->test());
    of.all[0].me->serve();
    SECTION("the size") {
        CHECK(of.all[0].begin(8) == UCS_ERR_INVALID_PARAM);
        CHECK(of.all[1].me->test() == UCS_ERR_INVALID_PARAM);
        CHECK(log.count("rank 1 gives 9 bytes and rank 0 8") == 1);
    }
    SECTION("the time") {
        test::virtual_time::now += 40 * second;
        CHECK(of.all[1].me->test() == UCS_INPROGRESS);  // it asks
        of.all[0].me->serve();
        CHECK(of.all[0].begin(9) == UCS_ERR_TIMED_OUT);
        CHECK(of.all[1].me->test() == UCS_ERR_TIMED_OUT);
        CHECK(log.count("rank 2") >= 1);
    }
}

TEST_CASE("star: rank 0 leaves while it is asked") {
    const test::log_capture log;
    const test::virtual_time clock;
    published_star of(3);
    CHECK(look_up(of.all[1], 0, 2).status == UCS_INPROGRESS);
    of.all[0].me.reset();
    CHECK(look_up(of.all[1], 0, 2).status == UCS_ERR_CONNECTION_RESET);
    CHECK(look_up(of.all[2], 0, 1).status == UCS_ERR_CONNECTION_RESET);
    CHECK(log.count("died or left: nobody says where rank 2 is") == 1);
    CHECK(of.all[1].me->withdraw(0) == UCS_OK);
}

TEST_CASE("star: nobody answers after a round that failed, and all are told") {
    const test::log_capture log;
    const test::virtual_time clock;
    published_star of(3);
    CHECK(look_up(of.all[1], 0, 2).status == UCS_INPROGRESS);
    REQUIRE(of.all[0].begin(8) == UCS_OK);
    of.all[0].me->release();
    CHECK(of.all[0].me->withdraw(0) == UCS_OK);
    // It may have been answered before.
    CHECK(look_up(of.all[2], 0, 1).status == UCS_ERR_CONNECTION_RESET);
    REQUIRE(of.all[2].begin(8) == UCS_OK);
    CHECK(of.all[2].me->test() == UCS_ERR_CANCELED);
    std::uint64_t number = 0;
    const bytes mine = block_of(2);
    CHECK(of.all[2].me->publish(mine.data(), mine.size(), number) == UCS_ERR_CANCELED);
}

TEST_CASE("star: a rank 0 that does not answer is waited for as long as for a round") {
    const test::log_capture log;
    const test::virtual_time clock;
    published_star of(2);
    CHECK(look_up(of.all[1], 0, 0).status == UCS_INPROGRESS);
    test::virtual_time::now += 40 * second - 1;
    CHECK(look_up(of.all[1], 0, 0).status == UCS_INPROGRESS);
    test::virtual_time::now += 1;
    CHECK(look_up(of.all[1], 0, 0).status == UCS_ERR_TIMED_OUT);
    CHECK(log.count("rank 1 did not hear within 40 s where rank 0 is") == 1);
    // The answer comes later, and serves the next who asks.
    of.all[0].me->serve();
    CHECK(look_up(of.all[1], 0, 0).status == UCS_OK);
}

TEST_CASE("star: who publishes too much is told so, and who goes on is dropped") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(2, 40 * second);
    of.join(1);
    meet(of.all);
    const bytes mine(wire::most_published);
    std::size_t taken = 0;
    std::uint64_t number = 0;
    ucs_status_t status = UCS_OK;
    for (; taken < 1000 && status == UCS_OK; ++taken)
        status = of.all[1].me->publish(mine.data(), mine.size(), number);
    CHECK(status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(taken - 1 == tcp_store::most_of_rank / tcp_store::cost_of(mine.size()));
    for (std::size_t i = 0; i < 30 * taken; ++i) {
        of.all[1].me->serve();
        of.all[0].me->serve();
    }
    // What is withdrawn makes room.
    CHECK(of.all[1].me->withdraw(0) == UCS_OK);
    CHECK(of.all[1].me->publish(mine.data(), mine.size(), number) == UCS_OK);
}

// --- peers that send without pause ---

namespace {

// One end of a connection, which says what the test wants.
struct fake_peer {
    ucs::unique_fd other_end;  // for rank 0 or the leaf
    tcp_link link;

    static fake_peer make() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        return {ucs::unique_fd(ends[1]), ends[0]};
    }
    fake_peer(ucs::unique_fd end, int own) : other_end(std::move(end)), link(ucs::unique_fd(own)) {}

    void say(const wire::header& head, std::span<const std::byte> content = {}) {
        link.put(head, content);
        REQUIRE(link.flush() == UCS_OK);
    }
    // As many frames as the socket takes.
    std::size_t flood(const wire::header& head) {
        std::size_t frames = 0;
        for (bool is_taken = true; is_taken; ++frames) {
            link.put(head);
            is_taken = link.flush() == UCS_OK;
        }
        return frames;
    }
};

std::size_t unread(int socket) {
    int count = 0;
    REQUIRE(::ioctl(socket, FIONREAD, &count) == 0);
    return static_cast<std::size_t>(count);
}

}  // namespace

TEST_CASE("star: a rank that sends without pause keeps rank 0 from no deadline") {
    const test::log_capture log;
    const test::virtual_time clock;
    const auto kind = GENERATE(wire::kind::withdrawn, wire::kind::late);
    star of(3, second);
    of.join(1);
    fake_peer flooding = fake_peer::make();
    const ucs::unique_fd end_of_root(::fcntl(flooding.other_end.get(), F_DUPFD_CLOEXEC, 0));
    of.root->adopt(std::move(flooding.other_end));
    ucs::security::opening client(ucs::security::opening::role::client, nullptr, store_purpose);
    static_cast<void>(flooding.link.advance(client));
    flooding.say({wire::kind::hello, 2, 3});
    for (party& each : of.all)
        REQUIRE(each.begin(8) == UCS_OK);
    turn(of.all);
    // Number 7 is no round under way, which "late" would end.
    REQUIRE(flooding.flood({kind, 2, 3, 0, 7}) > 200);
    const std::size_t before = unread(end_of_root.get());
    CHECK(of.all[0].me->test() == UCS_INPROGRESS);
    CHECK(unread(end_of_root.get()) > before / 2);
    // Others have their turn, and the rest is read later.
    test::virtual_time::now += second - 1;
    for (int i = 0; i < 1000 && unread(end_of_root.get()) >= wire::header::size; ++i)
        CHECK(of.all[0].me->test() == UCS_INPROGRESS);
    CHECK(unread(end_of_root.get()) < wire::header::size);
    test::virtual_time::now += 1;
    CHECK(of.all[0].me->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("rank 2 did not take part within 1 s") == 1);
}

TEST_CASE("star: a rank that comes again while rank 0 still reads what it sent before waits") {
    const test::log_capture log;
    const test::virtual_time clock;
    star of(2, 40 * second);
    fake_peer first = fake_peer::make();
    of.root->adopt(std::move(first.other_end));
    ucs::security::opening client(ucs::security::opening::role::client, nullptr, store_purpose);
    static_cast<void>(first.link.advance(client));
    first.say({wire::kind::hello, 1, 2});
    REQUIRE(of.all[0].begin(8) == UCS_OK);
    CHECK(of.all[0].me->test() == UCS_INPROGRESS);
    REQUIRE(first.flood({wire::kind::withdrawn, 1, 2, 0, 7}) > 200);
    of.join(1);
    REQUIRE(of.all[1].begin(8) == UCS_OK);
    for (party& each : of.all)
        CHECK(each.me->test() == UCS_INPROGRESS);
    CHECK(of.all[1].me->test() == UCS_INPROGRESS);
    INFO(log.text());
    CHECK(log.count("one that may have left") == 1);
}

namespace {

// A rank 1 that has joined a rank 0 which says what the test wants.
struct leaf_of_fake {
    leaf_of_fake() {
        leaf.me = std::make_unique<tcp_leaf>(membership{1, 2, 40 * second}, std::uint64_t{0},
                                             tcp_place{"127.0.0.1", 1}, std::move(root.other_end));
        static_cast<void>(root.link.advance(server));
        const bytes mine = block_of(1);
        std::uint64_t number = 0;
        REQUIRE(leaf.me->publish(mine.data(), mine.size(), number) == UCS_OK);
        root.say({wire::kind::welcome, 0, 2});
        begin_round();
    }
    void begin_round() {
        REQUIRE(leaf.begin(8) == UCS_OK);
        REQUIRE(leaf.me->test() == UCS_INPROGRESS);
    }
    void end_round() {
        root.say({wire::kind::blocks, 0, 2}, bytes(16));
        REQUIRE(leaf.me->test() == UCS_OK);
        leaf.me->release();
    }
    // Where rank 0 is; the leaf may not have asked.
    void answer(std::uint64_t number = 0) {
        bytes content(wire::answer_head::size);
        wire::pack({UCS_OK, 0}, std::span(content).first<wire::answer_head::size>());
        content.push_back(std::byte{1});
        root.say({wire::kind::answer, 0, 2, 0, number}, content);
    }

    ucs::security::opening server{ucs::security::opening::role::server, nullptr, store_purpose};
    fake_peer root = fake_peer::make();
    party leaf;
};

}  // namespace

TEST_CASE("star: a rank 0 that answers what was not asked is believed nothing more") {
    const test::log_capture log;
    const test::virtual_time clock;
    leaf_of_fake with;
    SECTION("in a round") {
        with.answer();
        CHECK(with.leaf.me->test() == UCS_ERR_CONNECTION_RESET);
        CHECK(log.count("rank 0 at 127.0.0.1:1 sent nonsense") == 1);
    }
    SECTION("between rounds, and after an answer that was asked for") {
        with.end_round();
        CHECK(look_up(with.leaf, 0, 0).status == UCS_INPROGRESS);
        with.answer();
        CHECK(look_up(with.leaf, 0, 0).status == UCS_OK);
        with.answer();
        with.leaf.me->serve();
        CHECK(look_up(with.leaf, 0, 0).status == UCS_ERR_CONNECTION_RESET);
    }
}

TEST_CASE("star: an answer that nobody waits for any more is dropped") {
    const test::log_capture log;
    const test::virtual_time clock;
    leaf_of_fake with;
    with.end_round();
    CHECK(look_up(with.leaf, 0, 0).status == UCS_INPROGRESS);
    CHECK(with.leaf.me->withdraw(0) == UCS_OK);
    with.answer();
    with.leaf.me->serve();
    REQUIRE(with.leaf.begin(8) == UCS_OK);
    CHECK(with.leaf.me->test() == UCS_INPROGRESS);
    INFO(log.text());
    CHECK(log.size() == 0);
}
