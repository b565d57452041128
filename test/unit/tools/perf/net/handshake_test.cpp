#include "tools/perf/net/handshake.hpp"

#include <fcntl.h>

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/support/socket_pair.hpp"
#include "tools/common/failure.hpp"
#include "ucs/net/ip_address.hpp"
#include "ucs/net/socket.hpp"

using namespace std::chrono_literals;
using namespace tools::perf;
using namespace ucs::security;

namespace {

const key shared = key::from_text("a key of the tests of handshakes");
const auto hello = pack_header(frame_type::hello);
constexpr auto limit = 5000ms;

std::uint16_t port_of(const ucs::unique_fd& listener) {
    ucs::net::socket_address own;
    REQUIRE(::getsockname(listener.get(), own.data(), own.size_to_fill()) == 0);
    return own.port();
}

void send(const ucs::unique_fd& to, std::span<const std::byte> bytes) {
    REQUIRE(ucs::net::send_whole(to.get(), bytes));
}

// Waits until the other end closes the connection.
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

// A server that waits for its client in a thread, until serve() or end().
class server {
public:
    server()
        : listener_(listen_on(0, false)),
          port_(port_of(listener_)),
          thread_([this] { served_ = accept_client(listener_, &shared); }) {}
    ~server() {
        try {
            if (thread_.joinable()) serve();
        } catch (...) {
            // A check has failed, and the thread has served another client.
        }
        if (thread_.joinable()) thread_.join();
    }

    [[nodiscard]] ucs::unique_fd connect() const { return connect_to("127.0.0.1", port_, false); }

    // Connects a client that proves the key but does not send the hello.
    [[nodiscard]] ucs::unique_fd connect_with_key() const {
        ucs::unique_fd fd = connect();
        open_connection(fd.get(), &shared, limit);
        return fd;
    }

    // Returns after the server has read all earlier data: it handles events in order.
    void settle() const {
        const auto other_client = connect();
        send(other_client, std::as_bytes(std::span("no opening")));
        REQUIRE(is_closed(other_client));
    }

    // Connects a valid client, and checks that the server accepts it.
    void serve() {
        const auto client = connect_with_key();
        send(client, hello);
        thread_.join();
        CHECK(is_served(client));
    }
    // Checks that the server accepts this client, which has sent everything.
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

// A client in its own thread, whose server the test plays through `far`.
struct client_thread : test::socket_pair {
    explicit client_thread(const key* shared_key = &shared)
        : test::socket_pair(SOCK_STREAM | SOCK_NONBLOCK) {
        thread = std::thread([this, shared_key] {
            try {
                open_connection(near.get(), shared_key, limit);
            } catch (const tools::failure& reason) {
                failure_text = reason.what();
            }
        });
    }
    ~client_thread() { thread.join(); }

    // Returns the text of the failure; empty if there is none.
    [[nodiscard]] std::string end() {
        thread.join();
        thread = std::thread([] {});
        return failure_text;
    }

    std::string failure_text;
    std::thread thread;
};

// Plays the server's part of the handshake, byte by byte.
void play_server(client_thread& client, const key* shared_key) {
    key_handshake server_side(key_handshake::role::server, shared_key, handshake_purpose);
    const auto send_bytes = [&](std::span<const std::byte> record) {
        for (const std::byte& each : record)
            send(client.far, {&each, 1});
        return true;
    };
    const auto receive = [&](std::span<std::byte> into) {
        return ucs::net::receive_some(client.far.get(), into.first(1));
    };
    while (server_side.advance(send_bytes, receive) == key_handshake::step::incomplete)
        std::this_thread::yield();
}

// Each case has a server, and reads the log.
struct captured {
    const test::log_capture log;
    server listening;
};

}  // namespace

TEST_CASE_METHOD(captured, "the server accepts the client that proves the key and sends hello") {
    listening.serve();
    CHECK(log.size() == 0);
}

TEST_CASE("a hello in pieces is accepted") {
    server listening;
    const auto client = listening.connect_with_key();
    send(client, std::span(hello).first(1));
    listening.settle();
    send(client, std::span(hello).subspan(1, 10));
    listening.settle();
    send(client, std::span(hello).last(1));
    listening.end(client);
}

TEST_CASE_METHOD(captured, "peers that disconnect before their hello are no clients") {
    auto silent = listening.connect();
    auto in_the_middle = listening.connect_with_key();
    send(in_the_middle, std::span(hello).first(5));
    listening.settle();
    silent.reset();
    in_the_middle.reset();
    listening.serve();
    CHECK(log.count("it speaks another protocol") == log.size());
}

TEST_CASE_METHOD(captured, "a peer that sends another frame than hello is closed with one line") {
    auto sent = hello;
    SECTION("another magic") {
        sent[0] = std::byte{'X'};
    }
    SECTION("another version") {
        sent[4] = std::byte{99};
    }
    SECTION("another frame") {
        sent = pack_header(frame_type::test);
    }
    SECTION("a hello with content") {
        sent = pack_header(frame_type::hello, 4);
    }
    const auto peer = listening.connect_with_key();
    send(peer, sent);
    CHECK(is_closed(peer));
    listening.serve();
    CHECK(log.count("control port: the peer at 127.0.0.1:") == 1);
    CHECK(log.count("does not speak this version of the test protocol") == 1);
}

TEST_CASE_METHOD(captured,
                 "a peer without the key is closed with one line, whatever it sends then") {
    const auto peer = listening.connect();
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
    listening.serve();
    CHECK(log.size() == 1);
    CHECK(log.count("control port: no connection with the client at 127.0.0.1:") == 1);
}

TEST_CASE_METHOD(captured,
                 "silent peers do not delay a client, and some are closed if there are too many") {
    std::vector<ucs::unique_fd> silent;
    for (int i = 0; i < 200; ++i)
        silent.push_back(listening.connect());
    CHECK(is_closed(silent.front()));
    listening.serve();
    CHECK(log.count("connections have not identified themselves") == 1);
}

TEST_CASE("the client accepts a reply in pieces") {
    const key* const shared_key = GENERATE(&shared, nullptr);
    client_thread client(shared_key);
    play_server(client, shared_key);
    CHECK(client.end().empty());
}

TEST_CASE("the client gives up on a wrong server") {
    client_thread client;
    std::string reason;
    SECTION("it closes the connection") {
        client.far.reset();
        reason = "it closed the connection";
    }
    SECTION("it closes the connection in the middle of its record") {
        send(client.far, std::as_bytes(std::span("HWSO", 4)));
        ::shutdown(client.far.get(), SHUT_WR);
        reason = "it closed the connection";
    }
    SECTION("it speaks another protocol") {
        send(client.far, std::as_bytes(std::span("SSH-2.0-OpenSSH_9.2p1\r\n", 23)));
        reason = "it speaks another protocol";
    }
    SECTION("it has another key") {
        const key other = key::from_text("another key of the tests of handshakes");
        play_server(client, &other);
        reason = "its job key is another one";
    }
    SECTION("it has no key") {
        play_server(client, nullptr);
        reason = "it has no job key and this process has one";
    }
    CHECK_THAT(client.end(), Catch::Contains(reason));
}

TEST_CASE("the client gives up on a silent server at the limit") {
    const test::socket_pair ends(SOCK_STREAM | SOCK_NONBLOCK);
    CHECK_THROWS_WITH(open_connection(ends.near.get(), &shared, 20ms),
                      Catch::Contains("the server did not answer within"));
}
