#include "ucs/net/acceptor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <new>
#include <optional>

#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucs/net/stream_io.hpp"

using test::virtual_time;
using ucs::net::acceptor;
using ucs::security::opening;
using ucs::time::millisecond;

namespace {

constinit const ucs::log::component test_log{"test.acceptor"};

ucs::net::socket_address loopback(std::uint16_t port) {
    constexpr std::array ip{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
    return {ucs::net::ip_address::v4(ip), port};
}

// A listener whose peers prove themselves by "x", or by the key `shared` if there is one. After "-"
// it goes on reading, after "p" as well and prefers the peer, and after "w" it defers the decision
// until the test ends that.
struct place {
    struct guest final : acceptor::pending {
        guest(place& of_place, ucs::unique_fd socket)
            : pending(socket.get()), owner(of_place), fd(std::move(socket)) {}
        void on_readable() noexcept override {
            if (owner.shared) {
                static_cast<void>(ucs::net::advance(proving, fd.get()));
                if (owner.door->has_agreed(*this, proving)) take();
                return;
            }
            char word = 0;
            if (::recv(fd.get(), &word, 1, MSG_DONTWAIT) < 0) return;
            if (word == '-') {
                ++owner.heard;
                return;
            }
            if (word == 'p') return owner.door->prefer(*this);
            if (word == 'w') return owner.door->defer(*this);
            if (word != 'x') return owner.door->reject(*this, "is not wanted");
            take();
        }
        void on_tick(ucs::time::nanoseconds) noexcept override {
            ++owner.asked;
            if (owner.waiting_is_over) take();
        }
        void on_displaced() noexcept override { ++owner.displaced; }
        void on_shutdown() noexcept override { ++owner.ended; }
        void take() noexcept {
            owner.taken.push_back(std::move(fd));
            owner.door->remove(*this);
        }
        place& owner;
        ucs::unique_fd fd;
        opening proving{opening::role::server, owner.shared ? &*owner.shared : nullptr, "test"};
    };

    explicit place(ucs::time::nanoseconds time_to_prove = 3600 * ucs::time::second,
                   std::size_t most = 8, std::size_t most_per_origin = 6,
                   ucs::time::nanoseconds turn_length = 0, std::size_t most_waiting = 40) {
        events = std::move(*ucs::async::event_loop::create());
        door.emplace(*events, acceptor::settings{
                                  .log = test_log,
                                  .rejected = rejected,
                                  .name = "the port",
                                  .limits = {most, most_per_origin, time_to_prove, turn_length,
                                             turn_length == 0 ? 0 : most_waiting},
                                  .accept = [this](int at) -> std::unique_ptr<guest> {
                                      ucs::unique_fd fd = ucs::net::accept_stream(at);
                                      if (!fd) return nullptr;
                                      if (no_memory) throw std::bad_alloc();
                                      return std::make_unique<guest>(*this, std::move(fd));
                                  }});
        listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        address = loopback(0);
        REQUIRE(::bind(listener.get(), address.data(), address.size()) == 0);
        REQUIRE(::listen(listener.get(), SOMAXCONN) == 0);
        REQUIRE(::getsockname(listener.get(), address.data(), address.size_to_fill()) == 0);
        REQUIRE(door->open({listener.get()}) == UCS_OK);
    }

    // `host` is the last number of the address that the peer connects from.
    [[nodiscard]] ucs::unique_fd knock(const char* word = "", int host = 1) const {
        ucs::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const std::array ip{std::byte{127}, std::byte{0}, std::byte{0}, std::byte(host)};
        const ucs::net::socket_address own(ucs::net::ip_address::v4(ip), 0);
        REQUIRE(::bind(fd.get(), own.data(), own.size()) == 0);
        REQUIRE(::connect(fd.get(), address.data(), address.size()) == 0);
        const auto length = static_cast<ssize_t>(std::char_traits<char>::length(word));
        REQUIRE(::send(fd.get(), word, static_cast<std::size_t>(length), 0) == length);
        return fd;
    }
    void settle() const {
        while (events->poll(0) > 0) {
        }
    }
    // Lets time pass, in steps that no timer overlooks.
    void pass(ucs::time::nanoseconds how_long) const {
        for (ucs::time::nanoseconds gone = 0; gone < how_long; gone += 10 * millisecond) {
            virtual_time::now += 10 * millisecond;
            settle();
        }
    }

    std::unique_ptr<ucs::async::event_loop> events;
    ucs::log::throttle rejected;
    ucs::net::socket_address address;
    std::vector<ucs::unique_fd> taken;
    std::optional<ucs::security::key> shared;
    unsigned heard = 0;
    unsigned asked = 0;
    unsigned displaced = 0;
    unsigned ended = 0;
    bool waiting_is_over = false;
    bool no_memory = false;
    ucs::unique_fd listener;
    std::optional<acceptor> door;
};

bool closed(const ucs::unique_fd& fd) {
    pollfd one{fd.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

std::size_t count_closed(const std::vector<ucs::unique_fd>& all) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), closed));
}

std::vector<ucs::unique_fd> crowd(const place& at, std::size_t size, const char* word = "",
                                  int host = 1) {
    std::vector<ucs::unique_fd> all;
    for (std::size_t i = 0; i < size; ++i)
        all.push_back(at.knock(word, host));
    at.settle();
    return all;
}

}  // namespace

TEST_CASE("a peer that proves itself is taken, and a silent one is closed when its time is over") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto silent = at.knock();
    const auto slow = at.knock();
    const auto quick = at.knock("x");
    at.settle();
    CHECK(at.taken.size() == 1);
    CHECK(at.door->size() == 2);
    CHECK(at.door->accepted() == 3);
    at.pass(40 * millisecond);
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    at.settle();
    CHECK(at.taken.size() == 2);
    CHECK(!closed(silent));
    at.pass(20 * millisecond);
    CHECK(closed(silent));
    CHECK(at.door->size() == 0);
    CHECK(log.count("the port: the peer at 127.0.0.1:") == 1);
    CHECK(log.count("connected and did not identify itself in time") == 1);
    CHECK(at.rejected.count() == 1);
    // With nobody to wait for there is no timer.
    virtual_time::now += ucs::time::second;
    CHECK(at.events->poll(0) == 0);
}

TEST_CASE("a peer that sends a byte now and then has the same time as a silent one") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto slow = at.knock();
    at.settle();
    // A byte in each step: that it speaks does not give it more time.
    for (unsigned i = 0; i < 4; ++i) {
        REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
        at.settle();
        at.pass(10 * millisecond);
        REQUIRE(at.door->size() == 1);
        CHECK(!closed(slow));
    }
    CHECK(at.heard == 4);
    REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
    at.settle();
    at.pass(20 * millisecond);
    CHECK(closed(slow));
    CHECK(at.door->size() == 0);
    CHECK(at.taken.empty());
    CHECK(log.count("connected and did not identify itself in time") == 1);
}

TEST_CASE("a crowd displaces its own connections, the oldest first, and a peer is served at once") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto all = crowd(at, 6);
    CHECK(count_closed(all) == 0);
    CHECK(log.size() == 0);
    const auto more = crowd(at, 300);
    CHECK(at.door->size() == 6);
    CHECK(at.displaced == 300);
    CHECK(at.door->displaced() == 300);
    CHECK(count_closed(all) == 6);
    CHECK(!closed(more.back()));
    const auto peer = at.knock("x");
    at.settle();
    CHECK(at.taken.size() == 1);
    CHECK(log.count(" 6 connections have not identified themselves") == 0);
    CHECK(log.count("7 connections have not identified themselves, the last one from 127.0.0.1:") ==
          1);
    CHECK(log.size() == 1);
}

TEST_CASE("a crowd of one host leaves the connections of others alone") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto slow = at.knock("", 2);
    at.settle();
    const auto others = crowd(at, 100, "", 3);
    const auto many_hosts = crowd(at, 1, "", 4);
    CHECK(at.door->size() == 8);
    CHECK(!closed(slow));
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    at.settle();
    CHECK(at.taken.size() == 1);
}

TEST_CASE("a silent connection ends before one that sent a valid first record") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto preferred = at.knock("p");
    at.settle();
    const auto silent = crowd(at, 50);
    CHECK(!closed(preferred));
    CHECK(at.door->size() == 6);
    const auto records = crowd(at, 50, "p");
    CHECK(closed(preferred));
    CHECK(at.door->size() == 6);
}

TEST_CASE("peers whose proof takes a round trip wait for their turn instead of being displaced") {
    const virtual_time clock;
    const test::log_capture log;
    place at(3600 * ucs::time::second, 8, 6, 100 * millisecond);
    auto peers = crowd(at, 30, "p");
    CHECK(at.door->size() == 30);
    CHECK(at.displaced == 0);
    // Each that proves itself lets the next one begin.
    for (std::size_t i = 0; i < 30; ++i) {
        REQUIRE(::send(peers[i].get(), "x", 1, 0) == 1);
        at.settle();
    }
    CHECK(at.taken.size() == 30);
    CHECK(at.displaced == 0);
    CHECK(log.size() == 0);
}

namespace {

// A peer behind a crowd of its own address that begins to prove itself and goes no further.
struct peer_behind_crowd {
    peer_behind_crowd(std::size_t size, std::size_t most_waiting)
        : at(3600 * ucs::time::second, 8, 6, 100 * millisecond, most_waiting),
          strangers(crowd(at, size, "p")),
          waiting(at.door->size()),
          peer(at.knock("x")) {
        at.settle();
    }
    void is_served_after(ucs::time::nanoseconds time) const {
        CHECK(at.taken.empty());
        at.pass(time);
        CHECK(at.taken.size() == 1);
        CHECK(log.count("connections have not identified themselves") == 1);
    }
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const std::vector<ucs::unique_fd> strangers;
    const std::size_t waiting;  // of the crowd
    const ucs::unique_fd peer;
};

}  // namespace

TEST_CASE("peers that only begin to prove themselves hold up those of their address for a time") {
    const peer_behind_crowd in(30, 40);
    // 30 of them, 3 at a time.
    in.is_served_after(1100 * millisecond);
    CHECK(in.at.door->size() <= 6);
}

TEST_CASE("too many that wait displace each other, and the peer that came last is served") {
    const peer_behind_crowd in(300, 10);
    CHECK(in.waiting == 13);
    in.is_served_after(400 * millisecond);
}

TEST_CASE("peers that only begin to prove themselves hold up nobody of another address") {
    const virtual_time clock;
    const test::log_capture log;
    place at(3600 * ucs::time::second, 20, 16, 100 * millisecond);
    const auto strangers = crowd(at, 30, "p");
    const auto peer = at.knock("x", 2);
    at.settle();
    CHECK(at.taken.size() == 1);
    // Nor do those who follow, nor a crowd of a third address.
    const auto next = crowd(at, 30, "p", 3);
    const auto more = crowd(at, 30, "p");
    const auto slow = at.knock("p", 4);
    const auto other = at.knock("x", 5);
    at.settle();
    CHECK(at.taken.size() == 2);
    CHECK_FALSE(closed(slow));
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    at.settle();
    CHECK(at.taken.size() == 3);
}

TEST_CASE("an acceptor that its user holds takes nobody until it is let go") {
    const virtual_time clock;
    place at;
    at.door->hold(true);
    const auto peer = at.knock("x");
    at.pass(ucs::time::second);
    CHECK(at.taken.empty());
    at.door->hold(false);
    at.settle();
    CHECK(at.taken.size() == 1);
}

TEST_CASE("a deferred connection has no deadline, and is asked until it is taken") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto waits = at.knock("w");
    at.settle();
    at.pass(ucs::time::second);
    CHECK(at.asked > 10);
    CHECK(at.door->size() == 1);
    const auto others = crowd(at, 20);
    CHECK(at.door->size() == 6);
    CHECK(!closed(waits));
    at.waiting_is_over = true;
    at.pass(10 * millisecond);
    CHECK(at.taken.size() == 1);
    CHECK(!closed(waits));
}

TEST_CASE("without descriptors accepting rests, and a line says so once") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto stranger = at.knock("x");
    std::optional<test::descriptor_limit> none(test::descriptor_limit::next_descriptor());
    at.settle();
    const unsigned resting = at.events->poll(0);
    at.pass(ucs::time::second);
    none.reset();
    CHECK(resting == 0);
    CHECK(at.taken.empty());
    CHECK(log.count("accept() on the port") == 1);
    at.pass(100 * millisecond);
    CHECK(at.taken.size() == 1);
}

TEST_CASE("without memory a connection is closed, and the next is taken when there is some") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    at.no_memory = true;
    const auto lost = at.knock("x");
    at.settle();
    CHECK(closed(lost));
    CHECK(log.count("accept() on the port") == 1);
    at.no_memory = false;
    const auto lucky = at.knock("x");
    at.pass(100 * millisecond);
    CHECK(at.taken.size() == 1);
    CHECK(!closed(lucky));
}

TEST_CASE("pending connections are told that the acceptor ends") {
    const virtual_time clock;
    place at;
    const auto silent = at.knock();
    const auto waits = at.knock("w");
    const auto taken = at.knock("x");
    at.settle();
    at.door.reset();
    CHECK(at.ended == 2);
    CHECK(closed(silent));
    CHECK(closed(waits));
    CHECK(!closed(taken));
    CHECK(at.events->size() == 0);
}

namespace {

constexpr const char* key_text = "a key of the tests of acceptors";

opening client_with(const char* text) {
    const auto shared = ucs::security::key::from_text(text);
    return {opening::role::client, &shared, "test"};
}

}  // namespace

TEST_CASE("a peer that has begun its opening is kept while silent ones end") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    at.shared = ucs::security::key::from_text(key_text);
    const auto begun = at.knock();
    opening mine = client_with(key_text);
    CHECK(ucs::net::advance(mine, begun.get()) == opening::step::incomplete);
    at.settle();
    const auto others = crowd(at, 20);
    CHECK(at.door->displaced() > 10);
    CHECK(ucs::net::advance(mine, begun.get()) == opening::step::agreed);
    at.settle();
    CHECK(at.taken.size() == 1);
}

TEST_CASE("a connection ends with its opening, and one line says why") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    at.shared = ucs::security::key::from_text(key_text);
    auto peer = at.knock();
    std::size_t lines = 1;
    SECTION("another key") {
        opening mine = client_with("another key of the tests of acceptors");
        while (ucs::net::advance(mine, peer.get()) == opening::step::incomplete)
            at.settle();
        at.settle();
        CHECK(log.count("the port: no connection with the client at 127.0.0.1:") == 1);
    }
    SECTION("another protocol") {
        REQUIRE(::send(peer.get(), "SSH-2.0-x\r\n", 11, 0) == 11);
        at.settle();
        CHECK(log.count("it speaks another protocol") == 1);
    }
    SECTION("a peer that has merely left is worth no line") {
        peer.reset();
        at.settle();
        lines = 0;
    }
    CHECK(at.door->size() == 0);
    CHECK(at.taken.empty());
    CHECK(log.size() == lines);
}
