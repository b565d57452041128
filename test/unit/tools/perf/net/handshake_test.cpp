#include "tools/perf/net/handshake.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "test/support/log_capture.hpp"
#include "tools/common/failure.hpp"
#include "ucs/net/ip_address.hpp"
#include "ucs/net/stream_io.hpp"

using namespace std::chrono_literals;
using namespace tools::perf;
using ucs::security::key;
using ucs::security::opening;

namespace {

const key shared = key::from_text("a key of the tests of handshakes");
const auto hello = pack_header({frame_type::hello, 0});
constexpr auto limit = 5000ms;

std::uint16_t port_of(const ucs::unique_fd& listener) {
    ucs::net::socket_address own;
    REQUIRE(::getsockname(listener.get(), own.data(), own.size_to_fill()) == 0);
    return own.port();
}

void send(const ucs::unique_fd& to, std::span<const std::byte> bytes) {
    REQUIRE(ucs::net::send_whole(to.get(), bytes));
}

// Waits for the other end to close the connection.
bool is_closed(const ucs::unique_fd& fd) {
    const timeval wait{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::fcntl(fd.get(), F_SETFL, 0);
    for (;;) {
        std::byte some{};
        const ssize_t got = ::recv(fd.get(), &some, 1, 0);
        if (got <= 0) return got == 0 || errno == ECONNRESET;
    }
}

// A server that waits for its client in a thread, until serve().
class server {
public:
    server()
        : listener_(listen_on(0, false)),
          port_(port_of(listener_)),
          thread_([this] { served_ = accept_client(listener_, &shared); }) {}
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    ~server() {
        try {
            if (thread_.joinable()) serve();
        } catch (...) {
            // A check has failed, and another client was served.
        }
        if (thread_.joinable()) thread_.join();
    }

    [[nodiscard]] ucs::unique_fd connect() const { return connect_to("127.0.0.1", port_, false); }

    // A client proves the key. It has not said hello.
    [[nodiscard]] ucs::unique_fd connect_with_key() const {
        ucs::unique_fd fd = connect();
        open_connection(fd.get(), &shared, limit);
        return fd;
    }

    // Returns after the server has read what was sent to it before: later events are served later.
    void settle() const {
        const auto stranger = connect();
        send(stranger, std::as_bytes(std::span("no opening")));
        REQUIRE(is_closed(stranger));
    }

    // A client comes that is right.
    void serve() {
        const auto client = connect_with_key();
        send(client, hello);
        thread_.join();
        CHECK(is_served(client));
    }
    // The client has said all and is the one that the server waits for.
    void end(const ucs::unique_fd& client) {
        thread_.join();
        CHECK(is_served(client));
    }

private:
    [[nodiscard]] bool is_served(const ucs::unique_fd& client) const {
        ucs::net::socket_address own;
        REQUIRE(::getsockname(client.get(), own.data(), own.size_to_fill()) == 0);
        return served_ && served_->peer == own.text();
    }

    const ucs::unique_fd listener_;
    const std::uint16_t port_;
    std::optional<accepted> served_;
    std::thread thread_;
};

// What a client that reaches `server` by hand hears, in a thread of its own.
struct client_of {
    explicit client_of(const key* with = &shared) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        near = ucs::unique_fd(ends[0]);
        server = ucs::unique_fd(ends[1]);
        thread = std::thread([this, with] {
            try {
                open_connection(near.get(), with, limit);
            } catch (const tools::failure& reason) {
                said = reason.what();
            }
        });
    }
    ~client_of() { thread.join(); }
    client_of(const client_of&) = delete;
    client_of& operator=(const client_of&) = delete;

    // Returns the failure; empty: there is none.
    [[nodiscard]] std::string end() {
        thread.join();
        thread = std::thread([] {});
        return said;
    }

    ucs::unique_fd near;
    ucs::unique_fd server;
    std::string said;
    std::thread thread;
};

// The server's part of the opening, with which the client sends and receives byte by byte.
void play_server(client_of& of, const key* with) {
    opening theirs(opening::role::server, with, opening_purpose);
    const auto send_bytes = [&](std::span<const std::byte> record) {
        for (const std::byte& each : record)
            send(of.server, {&each, 1});
        return true;
    };
    const auto receive = [&](std::span<std::byte> into) {
        return ucs::net::receive_some(of.server.get(), into.first(1));
    };
    while (theirs.advance(send_bytes, receive) == opening::step::incomplete)
        std::this_thread::yield();
}

}  // namespace

TEST_CASE("the server takes the client that has the key and says hello") {
    const test::log_capture log;
    server at;
    at.serve();
    CHECK(log.size() == 0);
}

TEST_CASE("a hello that comes in pieces is the same") {
    server at;
    const auto client = at.connect_with_key();
    send(client, std::span(hello).first(1));
    at.settle();
    send(client, std::span(hello).subspan(1, 10));
    at.settle();
    send(client, std::span(hello).last(1));
    at.end(client);
}

TEST_CASE("peers that go before they have said hello are no clients") {
    const test::log_capture log;
    server at;
    auto silent = at.connect();
    auto in_the_middle = at.connect_with_key();
    send(in_the_middle, std::span(hello).first(5));
    at.settle();
    silent.reset();
    in_the_middle.reset();
    at.serve();
    CHECK(log.count("it speaks another protocol") == log.size());
}

TEST_CASE("a peer that says something else than hello is closed with one line") {
    const test::log_capture log;
    server at;
    auto sent = hello;
    SECTION("another magic") {
        sent[0] = std::byte{'X'};
    }
    SECTION("another version") {
        sent[4] = std::byte{99};
    }
    SECTION("another frame") {
        sent = pack_header({frame_type::test, 0});
    }
    SECTION("a hello with content") {
        sent = pack_header({frame_type::hello, 4});
    }
    const auto peer = at.connect_with_key();
    send(peer, sent);
    CHECK(is_closed(peer));
    at.serve();
    CHECK(log.count("control port: the peer at 127.0.0.1:") == 1);
    CHECK(log.count("does not speak this version of the test protocol") == 1);
}

TEST_CASE("a peer without the key is closed with one line, whatever it says then") {
    const test::log_capture log;
    server at;
    const auto peer = at.connect();
    SECTION("it has another key") {
        const key other = key::from_text("another key of the tests of handshakes");
        CHECK_THROWS_WITH(open_connection(peer.get(), &other, limit),
                          Catch::Contains("its job key is another one"));
    }
    SECTION("it has none") {
        CHECK_THROWS_WITH(open_connection(peer.get(), nullptr, limit),
                          Catch::Contains("it has a job key and this process has none"));
    }
    SECTION("it begins with hello") {
        send(peer, hello);
    }
    CHECK(is_closed(peer));
    at.serve();
    CHECK(log.size() == 1);
    CHECK(log.count("control port: no connection with the client at 127.0.0.1:") == 1);
}

TEST_CASE("silent peers keep no client waiting, and some end when they are too many") {
    const test::log_capture log;
    server at;
    std::vector<ucs::unique_fd> silent;
    for (int i = 0; i < 200; ++i)
        silent.push_back(at.connect());
    CHECK(is_closed(silent.front()));
    at.serve();
    CHECK(log.count("connections have not identified themselves") == 1);
}

TEST_CASE("the client goes on with an answer that comes in pieces") {
    const key* const with = GENERATE(&shared, nullptr);
    client_of by(with);
    play_server(by, with);
    CHECK(by.end().empty());
}

TEST_CASE("the client gives up a server that is not right") {
    client_of by;
    std::string reason;
    SECTION("it closes the connection") {
        by.server.reset();
        reason = "it closed the connection";
    }
    SECTION("it closes the connection in the middle of its record") {
        send(by.server, std::as_bytes(std::span("HWSO", 4)));
        ::shutdown(by.server.get(), SHUT_WR);
        reason = "it closed the connection";
    }
    SECTION("it speaks another protocol") {
        send(by.server, std::as_bytes(std::span("SSH-2.0-OpenSSH_9.2p1\r\n", 23)));
        reason = "it speaks another protocol";
    }
    SECTION("it has another key") {
        const key other = key::from_text("another key of the tests of handshakes");
        play_server(by, &other);
        reason = "its job key is another one";
    }
    SECTION("it has no key") {
        play_server(by, nullptr);
        reason = "it has no job key and this process has one";
    }
    CHECK_THAT(by.end(), Catch::Contains(reason));
}

TEST_CASE("the client gives up a silent server when its time is over") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    const ucs::unique_fd near(ends[0]);
    const ucs::unique_fd far(ends[1]);
    CHECK_THROWS_WITH(open_connection(near.get(), &shared, 20ms),
                      Catch::Contains("the server did not answer within"));
}
