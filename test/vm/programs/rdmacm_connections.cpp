// Connections by socket address between RDMA devices, and what anybody may do to them.
#include <arpa/inet.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "ucs/time/clock.hpp"
#include "uct/ib/rdmacm/door.hpp"

using uct::rdmacm::connection;
using uct::rdmacm::door;

namespace {

constexpr std::size_t longest = 4096;
constexpr ucs::time::nanoseconds limit = 30 * ucs::time::second;

// Of the first device.
ucs::net::socket_address here(std::uint16_t port = 0) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    REQUIRE(::inet_pton(AF_INET, "10.9.0.1", &at.sin_addr) == 1);
    return {reinterpret_cast<const sockaddr*>(&at), sizeof at};
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string read_from(connection& from) {
    std::string text(3, ' ');  // shorter than what is said
    text.resize(from.receive(std::as_writable_bytes(std::span(text))));
    return text;
}

struct place {
    place() {
        auto opened = door::open(here(), longest);
        REQUIRE(opened.error == 0);
        at = std::move(opened.made);
    }
    [[nodiscard]] std::unique_ptr<connection> knock() const {
        auto begun = connection::connect(at->address(), {}, longest);
        REQUIRE(begun.error == 0);
        return std::move(begun.made);
    }
    // One look at the door.
    void look() {
        auto asked = at->next();
        if (asked.made != nullptr) server = at->accept(std::move(asked.made)).made;
    }
    template<class Holds>
    [[nodiscard]] bool until(connection& client, Holds&& holds) {
        const ucs::time::nanoseconds end = ucs::time::now() + limit;
        while (ucs::time::now() < end) {
            look();
            client.progress();
            if (server != nullptr) server->progress();
            if (holds()) return true;
        }
        return false;
    }
    void meet(connection& client) {
        REQUIRE(until(client, [&] {
            return client.progress() == 0 && server != nullptr && server->progress() == 0;
        }));
    }
    // Somebody else is served as if nothing had happened.
    void check_serves() {
        server.reset();
        const auto client = knock();
        meet(*client);
        REQUIRE(client->send(bytes_of("hello")));
        std::string heard;
        REQUIRE(until(*client, [&] { return (heard += read_from(*server)) == "hello"; }));
    }

    std::unique_ptr<door> at;
    std::unique_ptr<connection> server;
};

}  // namespace

TEST_CASE("what two sides say arrives in order, and can be read in pieces") {
    place in;
    const auto client = in.knock();
    in.meet(*client);
    CHECK(client->remote().text() == in.at->address().text());
    CHECK(in.server->remote().text() == client->local().text());
    REQUIRE(client->send(bytes_of("one")));
    REQUIRE(client->send(bytes_of("second")));
    CHECK(client->is_sending());
    std::string heard;
    REQUIRE(in.until(*client, [&] { return (heard += read_from(*in.server)).size() == 9; }));
    CHECK(heard == "onesecond");
    CHECK(in.until(*client, [&] { return !client->is_sending(); }));
    const std::string answer(longest, 'a');
    REQUIRE(in.server->send(bytes_of(answer)));
    CHECK_FALSE(in.server->send(bytes_of(answer + "a")));
    heard.clear();
    CHECK(in.until(*client, [&] { return (heard += read_from(*client)) == answer; }));
    client->check();
    in.server->check();
    REQUIRE(client->send(bytes_of("last")));
    heard.clear();
    CHECK(in.until(*client, [&] { return (heard += read_from(*in.server)) == "last"; }));
    CHECK(client->progress() == 0);
    CHECK(in.server->progress() == 0);
}

TEST_CASE("last words that arrived can be read after the end") {
    place in;
    const auto client = in.knock();
    in.meet(*client);
    REQUIRE(in.server->send(bytes_of("no")));
    REQUIRE(in.until(*client, [&] { return !in.server->is_sending(); }));
    in.server.reset();
    REQUIRE(in.until(*client, [&] { return client->progress() == ECONNRESET; }));
    CHECK(read_from(*client) == "no");
    CHECK(read_from(*client).empty());
    CHECK_FALSE(client->send(bytes_of("why")));
}

TEST_CASE("who finds nobody hears so") {
    place in;
    auto begun = connection::connect(here(static_cast<std::uint16_t>(in.at->address().port() + 1)),
                                     {}, longest);
    REQUIRE(begun.error == 0);
    CHECK(in.until(*begun.made, [&] { return begun.made->progress() != EINPROGRESS; }));
    CHECK(begun.made->progress() == ECONNREFUSED);
    CHECK(door::open(in.at->address(), longest).error == EADDRINUSE);
}

TEST_CASE("a side may go at any step, and others are served") {
    place in;
    for (int steps = 0; steps < 12; ++steps) {
        auto client = in.knock();
        for (int i = 0; i < steps; ++i) {
            client->progress();
            if (steps % 2 == 0) in.look();
        }
        client.reset();
    }
    in.check_serves();
}

TEST_CASE("a message of nothing ends the connection of who sent it") {
    place in;
    const auto client = in.knock();
    in.meet(*client);
    REQUIRE(client->send({}));
    CHECK(in.until(*client, [&] { return in.server->progress() == EPROTO; }));
    CHECK(read_from(*in.server).empty());
    in.check_serves();
}

TEST_CASE("who says more than is read is cut off") {
    place in;
    const auto client = in.knock();
    in.meet(*client);
    int sent = 0;
    REQUIRE(in.until(*client, [&] {
        sent += client->send(bytes_of("more")) ? 1 : 0;
        return client->progress() != 0;
    }));
    CHECK(sent >= 3);
    std::string heard;
    for (std::string some = read_from(*in.server); !some.empty(); some = read_from(*in.server))
        heard += some;
    CHECK(heard == "moremore");
    in.check_serves();
}
