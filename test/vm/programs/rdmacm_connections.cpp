// Connections by socket address between RDMA devices, including hostile clients.
#include <arpa/inet.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

#include "ucs/time/clock.hpp"
#include "uct/ib/rdmacm/listener.hpp"

using namespace uct::rdmacm;

namespace {

constexpr std::size_t longest = 4096;
constexpr ucs::time::nanoseconds limit = 30 * ucs::time::second;

// An address of the first device.
ucs::net::socket_address here(std::uint16_t port = 0) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    REQUIRE(::inet_pton(AF_INET, "10.9.0.1", &address.sin_addr) == 1);
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string read_from(connection& from) {
    std::string text(3, ' ');  // shorter than the message
    text.resize(from.receive(std::as_writable_bytes(std::span(text))));
    return text;
}

struct test_setup {
    test_setup() {
        auto opened = listener::open(here(), longest);
        REQUIRE(opened.error == 0);
        server_listener = std::move(opened.made);
    }
    [[nodiscard]] std::unique_ptr<connection> connect_client() const {
        auto begun = connection::connect(server_listener->address(), {}, longest);
        REQUIRE(begun.error == 0);
        return std::move(begun.made);
    }
    // Polls the listener once.
    void poll_listener() {
        auto asked = server_listener->next();
        if (asked.made != nullptr) server = server_listener->accept(std::move(asked.made)).made;
    }
    template<class Holds>
    [[nodiscard]] bool until(connection& client, Holds&& holds) {
        const ucs::time::nanoseconds end = ucs::time::now() + limit;
        while (ucs::time::now() < end) {
            poll_listener();
            client.progress();
            if (server != nullptr) server->progress();
            if (holds()) return true;
        }
        return false;
    }
    void wait_for_client(connection& client) {
        REQUIRE(until(client, [&] {
            return client.progress() == 0 && server != nullptr && server->progress() == 0;
        }));
    }
    // Another client is served normally.
    void check_serves() {
        server.reset();
        const auto client = connect_client();
        wait_for_client(*client);
        REQUIRE(client->send(bytes_of("hello")));
        std::string received;
        REQUIRE(until(*client, [&] { return (received += read_from(*server)) == "hello"; }));
    }

    std::unique_ptr<listener> server_listener;
    std::unique_ptr<connection> server;
};

}  // namespace

TEST_CASE("messages of both sides arrive in order, and can be read in pieces") {
    test_setup in;
    const auto client = in.connect_client();
    in.wait_for_client(*client);
    CHECK(client->remote().text() == in.server_listener->address().text());
    CHECK(in.server->remote().text() == client->local().text());
    REQUIRE(client->send(bytes_of("one")));
    REQUIRE(client->send(bytes_of("second")));
    CHECK(client->is_sending());
    std::string received;
    REQUIRE(in.until(*client, [&] { return (received += read_from(*in.server)).size() == 9; }));
    CHECK(received == "onesecond");
    CHECK(in.until(*client, [&] { return !client->is_sending(); }));
    const std::string reply(longest, 'a');
    REQUIRE(in.server->send(bytes_of(reply)));
    CHECK_FALSE(in.server->send(bytes_of(reply + "a")));
    received.clear();
    CHECK(in.until(*client, [&] { return (received += read_from(*client)) == reply; }));
    client->check();
    in.server->check();
    REQUIRE(client->send(bytes_of("last")));
    received.clear();
    CHECK(in.until(*client, [&] { return (received += read_from(*in.server)) == "last"; }));
    CHECK(client->progress() == 0);
    CHECK(in.server->progress() == 0);
}

TEST_CASE("data that arrived before the end can be read after it") {
    test_setup in;
    const auto client = in.connect_client();
    in.wait_for_client(*client);
    REQUIRE(in.server->send(bytes_of("no")));
    REQUIRE(in.until(*client, [&] { return !in.server->is_sending(); }));
    in.server.reset();
    REQUIRE(in.until(*client, [&] { return client->progress() == ECONNRESET; }));
    CHECK(read_from(*client) == "no");
    CHECK(read_from(*client).empty());
    CHECK_FALSE(client->send(bytes_of("why")));
}

TEST_CASE("a client without a server gets an error") {
    test_setup in;
    auto begun = connection::connect(
        here(static_cast<std::uint16_t>(in.server_listener->address().port() + 1)), {}, longest);
    REQUIRE(begun.error == 0);
    CHECK(in.until(*begun.made, [&] { return begun.made->progress() != EINPROGRESS; }));
    CHECK(begun.made->progress() == ECONNREFUSED);
    CHECK(listener::open(in.server_listener->address(), longest).error == EADDRINUSE);
}

TEST_CASE("a side may end at any step, and others are served") {
    test_setup in;
    for (int steps = 0; steps < 12; ++steps) {
        auto client = in.connect_client();
        for (int i = 0; i < steps; ++i) {
            client->progress();
            if (steps % 2 == 0) in.poll_listener();
        }
        client.reset();
    }
    in.check_serves();
}

TEST_CASE("an empty message ends the connection of its sender") {
    test_setup in;
    const auto client = in.connect_client();
    in.wait_for_client(*client);
    REQUIRE(client->send({}));
    CHECK(in.until(*client, [&] { return in.server->progress() == EPROTO; }));
    CHECK(read_from(*in.server).empty());
    in.check_serves();
}

TEST_CASE("a sender that exceeds the receiver's buffers is cut off") {
    test_setup in;
    const auto client = in.connect_client();
    in.wait_for_client(*client);
    int sent = 0;
    REQUIRE(in.until(*client, [&] {
        sent += client->send(bytes_of("more")) ? 1 : 0;
        return client->progress() != 0;
    }));
    CHECK(sent >= 3);
    std::string received;
    for (std::string some = read_from(*in.server); !some.empty(); some = read_from(*in.server))
        received += some;
    CHECK(received == "moremore");
    in.check_serves();
}
