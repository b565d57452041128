// Tests of the acceptor: authentication, displacement, deadlines and shortage of resources.
#include "ucs/net/acceptor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <new>
#include <optional>

#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucs/net/socket.hpp"

using test::virtual_time;
using ucs::net::acceptor;
using ucs::security::key_handshake;
using ucs::time::millisecond;

namespace {

constinit const ucs::log::component test_log{"test.acceptor"};

ucs::net::socket_address loopback(std::uint16_t port) {
    constexpr std::array ip{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
    return {ucs::net::ip_address::v4(ip), port};
}

// A listener whose peers authenticate by sending "x", or by the key `shared` if there is one. After
// "-" it continues to read. After "p" it prefers the peer and continues to read. After "w" it
// defers the decision until the test sets `ends_waiting`.
struct test_server {
    struct peer_connection final : acceptor::pending {
        peer_connection(test_server& of_server, ucs::unique_fd socket)
            : pending(socket.get()), owner(of_server), fd(std::move(socket)) {}
        void on_readable() noexcept override {
            if (owner.shared) {
                static_cast<void>(ucs::net::advance(proving, fd.get()));
                if (owner.port->has_agreed(*this, proving)) take();
                return;
            }
            char word = 0;
            if (::recv(fd.get(), &word, 1, MSG_DONTWAIT) < 0) return;
            if (word == '-') {
                ++owner.bytes_read;
                return;
            }
            if (word == 'p') return owner.port->prefer(*this);
            if (word == 'w') return owner.port->defer(*this);
            if (word != 'x') return owner.port->reject(*this, "is not wanted");
            take();
        }
        void on_tick(ucs::time::nanoseconds) noexcept override {
            ++owner.ticks;
            if (owner.ends_waiting) take();
        }
        void on_displaced() noexcept override { ++owner.displaced; }
        void on_shutdown() noexcept override { ++owner.ended; }
        void take() noexcept {
            owner.taken.push_back(std::move(fd));
            owner.port->remove(*this);
        }
        test_server& owner;
        ucs::unique_fd fd;
        key_handshake proving{key_handshake::role::server, owner.shared ? &*owner.shared : nullptr,
                              "test"};
    };

    explicit test_server(ucs::time::nanoseconds time_to_prove = 3600 * ucs::time::second,
                         std::size_t most = 8, std::size_t most_per_origin = 6,
                         ucs::time::nanoseconds turn_length = 0, std::size_t most_waiting = 40) {
        events = std::move(*ucs::async::event_loop::create());
        port.emplace(*events,
                     acceptor::settings{
                         .log = test_log,
                         .rejected = rejected,
                         .name = "the port",
                         .limits = {most, most_per_origin, time_to_prove, turn_length,
                                    turn_length == 0 ? 0 : most_waiting},
                         .accept = [this](int listening_fd) -> std::unique_ptr<peer_connection> {
                             ucs::unique_fd fd = ucs::net::accept_stream(listening_fd);
                             if (!fd) return nullptr;
                             if (no_memory) throw std::bad_alloc();
                             return std::make_unique<peer_connection>(*this, std::move(fd));
                         }});
        listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        address = loopback(0);
        REQUIRE(::bind(listener.get(), address.data(), address.size()) == 0);
        REQUIRE(::listen(listener.get(), SOMAXCONN) == 0);
        REQUIRE(::getsockname(listener.get(), address.data(), address.size_to_fill()) == 0);
        REQUIRE(port->open({listener.get()}) == UCS_OK);
    }

    // Connects a peer. `host` is the last number of its address.
    [[nodiscard]] ucs::unique_fd connect_peer(const char* word = "", int host = 1) const {
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
    // Checks how many peers have been taken when nothing more happens.
    void check_taken(std::size_t count) const {
        settle();
        CHECK(taken.size() == count);
    }
    // Advances the time in small steps, so that no timer is missed.
    void pass(ucs::time::nanoseconds duration) const {
        for (ucs::time::nanoseconds passed = 0; passed < duration; passed += 10 * millisecond) {
            virtual_time::now += 10 * millisecond;
            settle();
        }
    }

    std::unique_ptr<ucs::async::event_loop> events;
    ucs::log::throttle rejected;
    ucs::net::socket_address address;
    std::vector<ucs::unique_fd> taken;
    std::optional<ucs::security::key> shared;
    unsigned bytes_read = 0;
    unsigned ticks = 0;
    unsigned displaced = 0;
    unsigned ended = 0;
    bool ends_waiting = false;
    bool no_memory = false;
    ucs::unique_fd listener;
    std::optional<acceptor> port;
};

bool closed(const ucs::unique_fd& fd) {
    pollfd one{fd.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

std::size_t count_closed(const std::vector<ucs::unique_fd>& all) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), closed));
}

std::vector<ucs::unique_fd> crowd(const test_server& server, std::size_t size,
                                  const char* word = "", int host = 1) {
    std::vector<ucs::unique_fd> all;
    for (std::size_t i = 0; i < size; ++i)
        all.push_back(server.connect_peer(word, host));
    server.settle();
    return all;
}

// Each case reads the log and sets the clock.
struct captured {
    const virtual_time clock;
    const test::log_capture log;
};

}  // namespace

TEST_CASE_METHOD(captured,
                 "an authenticated peer is taken, and a silent one is closed at its deadline") {
    test_server server(50 * millisecond);
    const auto silent = server.connect_peer();
    const auto slow = server.connect_peer();
    const auto quick = server.connect_peer("x");
    server.check_taken(1);
    CHECK(server.port->size() == 2);
    CHECK(server.port->accepted() == 3);
    server.pass(40 * millisecond);
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    server.check_taken(2);
    CHECK(!closed(silent));
    server.pass(20 * millisecond);
    CHECK(closed(silent));
    CHECK(server.port->size() == 0);
    CHECK(log.count("the port: the peer at 127.0.0.1:") == 1);
    CHECK(log.count("connected and did not identify itself in time") == 1);
    CHECK(server.rejected.count() == 1);
    // Without pending connections there is no timer.
    virtual_time::now += ucs::time::second;
    CHECK(server.events->poll(0) == 0);
}

TEST_CASE_METHOD(captured, "a peer that sends single bytes has the same deadline as a silent one") {
    test_server server(50 * millisecond);
    const auto slow = server.connect_peer();
    server.settle();
    // A byte in each step does not extend the peer's time.
    for (unsigned i = 0; i < 4; ++i) {
        REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
        server.settle();
        server.pass(10 * millisecond);
        REQUIRE(server.port->size() == 1);
        CHECK(!closed(slow));
    }
    CHECK(server.bytes_read == 4);
    REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
    server.settle();
    server.pass(20 * millisecond);
    CHECK(closed(slow));
    CHECK(server.port->size() == 0);
    CHECK(server.taken.empty());
    CHECK(log.count("connected and did not identify itself in time") == 1);
}

TEST_CASE_METHOD(
    captured,
    "a flood displaces its own connections, the oldest first, and a peer is served at once") {
    test_server server;
    const auto all = crowd(server, 6);
    CHECK(count_closed(all) == 0);
    CHECK(log.size() == 0);
    const auto more = crowd(server, 300);
    CHECK(server.port->size() == 6);
    CHECK(server.displaced == 300);
    CHECK(server.port->displaced() == 300);
    CHECK(count_closed(all) == 6);
    CHECK(!closed(more.back()));
    const auto peer = server.connect_peer("x");
    server.check_taken(1);
    CHECK(log.count(" 6 connections have not identified themselves") == 0);
    CHECK(log.count("7 connections have not identified themselves, the last one from 127.0.0.1:") ==
          1);
    CHECK(log.size() == 1);
}

TEST_CASE_METHOD(captured, "a flood from one host does not displace connections of other hosts") {
    test_server server;
    const auto slow = server.connect_peer("", 2);
    server.settle();
    const auto others = crowd(server, 100, "", 3);
    const auto many_hosts = crowd(server, 1, "", 4);
    CHECK(server.port->size() == 8);
    CHECK(!closed(slow));
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    server.check_taken(1);
}

TEST_CASE_METHOD(captured, "a silent connection ends before one that sent a valid first record") {
    test_server server;
    const auto preferred = server.connect_peer("p");
    server.settle();
    const auto silent = crowd(server, 50);
    CHECK(!closed(preferred));
    CHECK(server.port->size() == 6);
    const auto records = crowd(server, 50, "p");
    CHECK(closed(preferred));
    CHECK(server.port->size() == 6);
}

TEST_CASE_METHOD(captured,
                 "peers that need a round trip wait for their turn instead of being displaced") {
    test_server server(3600 * ucs::time::second, 8, 6, 100 * millisecond);
    auto peers = crowd(server, 30, "p");
    CHECK(server.port->size() == 30);
    CHECK(server.displaced == 0);
    // Each authentication lets the next peer begin.
    for (std::size_t i = 0; i < 30; ++i) {
        REQUIRE(::send(peers[i].get(), "x", 1, 0) == 1);
        server.settle();
    }
    CHECK(server.taken.size() == 30);
    CHECK(server.displaced == 0);
    CHECK(log.size() == 0);
}

namespace {

// A peer behind many connections from its own address that begin to authenticate but never finish.
struct peer_behind_crowd {
    peer_behind_crowd(std::size_t size, std::size_t most_waiting)
        : server(3600 * ucs::time::second, 8, 6, 100 * millisecond, most_waiting),
          strangers(crowd(server, size, "p")),
          waiting(server.port->size()),
          peer(server.connect_peer("x")) {
        server.settle();
    }
    void is_served_after(ucs::time::nanoseconds time) const {
        CHECK(server.taken.empty());
        server.pass(time);
        CHECK(server.taken.size() == 1);
        CHECK(log.count("connections have not identified themselves") == 1);
    }
    const virtual_time clock;
    const test::log_capture log;
    test_server server;
    const std::vector<ucs::unique_fd> strangers;
    const std::size_t waiting;  // pending connections of the crowd
    const ucs::unique_fd peer;
};

}  // namespace

TEST_CASE("unfinished handshakes delay peers of the same address for a limited time") {
    const peer_behind_crowd in(30, 40);
    // 30 of them, 3 at a time.
    in.is_served_after(1100 * millisecond);
    CHECK(in.server.port->size() <= 6);
}

TEST_CASE("too many waiting connections displace each other, and the newest peer is served") {
    const peer_behind_crowd in(300, 10);
    CHECK(in.waiting == 13);
    in.is_served_after(400 * millisecond);
}

TEST_CASE_METHOD(captured, "unfinished handshakes do not delay peers of other addresses") {
    test_server server(3600 * ucs::time::second, 20, 16, 100 * millisecond);
    const auto strangers = crowd(server, 30, "p");
    const auto peer = server.connect_peer("x", 2);
    server.check_taken(1);
    // Later connections do not delay it either, nor does a crowd from a third address.
    const auto next = crowd(server, 30, "p", 3);
    const auto more = crowd(server, 30, "p");
    const auto slow = server.connect_peer("p", 4);
    const auto other = server.connect_peer("x", 5);
    server.check_taken(2);
    CHECK_FALSE(closed(slow));
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    server.check_taken(3);
}

TEST_CASE("a held acceptor accepts no connection until it is released") {
    const virtual_time clock;
    test_server server;
    server.port->hold(true);
    const auto peer = server.connect_peer("x");
    server.pass(ucs::time::second);
    CHECK(server.taken.empty());
    server.port->hold(false);
    server.check_taken(1);
}

TEST_CASE_METHOD(captured,
                 "a deferred connection has no deadline, and gets ticks until it is taken") {
    test_server server(50 * millisecond);
    const auto waits = server.connect_peer("w");
    server.settle();
    server.pass(ucs::time::second);
    CHECK(server.ticks > 10);
    CHECK(server.port->size() == 1);
    const auto others = crowd(server, 20);
    CHECK(server.port->size() == 6);
    CHECK(!closed(waits));
    server.ends_waiting = true;
    server.pass(10 * millisecond);
    CHECK(server.taken.size() == 1);
    CHECK(!closed(waits));
}

TEST_CASE_METHOD(captured, "without descriptors the acceptor pauses, and logs that once") {
    test_server server;
    const auto stranger = server.connect_peer("x");
    std::optional<test::descriptor_limit> none(test::descriptor_limit::next_descriptor());
    server.settle();
    const unsigned resting = server.events->poll(0);
    server.pass(ucs::time::second);
    none.reset();
    CHECK(resting == 0);
    CHECK(server.taken.empty());
    CHECK(log.count("accept() on the port") == 1);
    server.pass(100 * millisecond);
    CHECK(server.taken.size() == 1);
}

TEST_CASE_METHOD(
    captured,
    "without memory a connection is closed, a later one is accepted when there is memory") {
    test_server server;
    server.no_memory = true;
    const auto lost = server.connect_peer("x");
    server.settle();
    CHECK(closed(lost));
    CHECK(log.count("accept() on the port") == 1);
    server.no_memory = false;
    const auto lucky = server.connect_peer("x");
    server.pass(100 * millisecond);
    CHECK(server.taken.size() == 1);
    CHECK(!closed(lucky));
}

TEST_CASE("pending connections are notified when the acceptor ends") {
    const virtual_time clock;
    test_server server;
    const auto silent = server.connect_peer();
    const auto waits = server.connect_peer("w");
    const auto taken = server.connect_peer("x");
    server.settle();
    server.port.reset();
    CHECK(server.ended == 2);
    CHECK(closed(silent));
    CHECK(closed(waits));
    CHECK(!closed(taken));
    CHECK(server.events->size() == 0);
}

namespace {

constexpr const char* key_text = "a key of the tests of acceptors";

key_handshake client_with(const char* text) {
    const auto shared = ucs::security::key::from_text(text);
    return {key_handshake::role::client, &shared, "test"};
}

}  // namespace

TEST_CASE_METHOD(captured,
                 "a peer that has begun its handshake is kept while silent ones are closed") {
    test_server server;
    server.shared = ucs::security::key::from_text(key_text);
    const auto begun = server.connect_peer();
    key_handshake handshake = client_with(key_text);
    CHECK(ucs::net::advance(handshake, begun.get()) == key_handshake::step::incomplete);
    server.settle();
    const auto others = crowd(server, 20);
    CHECK(server.port->displaced() > 10);
    CHECK(ucs::net::advance(handshake, begun.get()) == key_handshake::step::agreed);
    server.check_taken(1);
}

TEST_CASE_METHOD(captured,
                 "a connection ends with its failed handshake, and one line has the reason") {
    test_server server;
    server.shared = ucs::security::key::from_text(key_text);
    auto peer = server.connect_peer();
    std::size_t lines = 1;
    SECTION("another key") {
        key_handshake handshake = client_with("another key of the tests of acceptors");
        while (ucs::net::advance(handshake, peer.get()) == key_handshake::step::incomplete)
            server.settle();
        server.settle();
        CHECK(log.count("the port: no connection with the client at 127.0.0.1:") == 1);
    }
    SECTION("another protocol") {
        REQUIRE(::send(peer.get(), "SSH-2.0-x\r\n", 11, 0) == 11);
        server.settle();
        CHECK(log.count("it speaks another protocol") == 1);
    }
    SECTION("a peer that only disconnects causes no line") {
        peer.reset();
        server.settle();
        lines = 0;
    }
    CHECK(server.port->size() == 0);
    CHECK(server.taken.empty());
    CHECK(log.size() == lines);
}
