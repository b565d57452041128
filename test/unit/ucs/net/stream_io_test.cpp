#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "test/support/socket_pair.hpp"
#include "ucs/net/socket.hpp"
#include "ucs/security/key.hpp"
#include "ucs/type/unique_fd.hpp"

using namespace ucs;
using security::handshake_failure;
using security::key_handshake;
using step = security::key_handshake::step;

namespace {

struct connection : test::socket_pair {
    connection() : test::socket_pair(SOCK_STREAM) {}
    // Sends bytes from the far side.
    void arrive(std::span<const std::byte> bytes) const {
        REQUIRE(::send(far.get(), bytes.data(), bytes.size(), 0) ==
                static_cast<ssize_t>(bytes.size()));
    }
};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

const security::key shared = security::key::from_text("a key of the tests of stream_io");

key_handshake client(const security::key* with = &shared) {
    return {key_handshake::role::client, with, "test"};
}
key_handshake server(const security::key* with = &shared) {
    return {key_handshake::role::server, with, "test"};
}

}  // namespace

TEST_CASE("receiving distinguishes no data, some data and the end") {
    connection between;
    std::array<std::byte, 4> into{};
    CHECK(net::receive_some(between.near.get(), into) == 0);
    between.arrive(bytes_of("abcdef"));
    CHECK(net::receive_some(between.near.get(), into) == 4);
    CHECK(net::receive_some(between.near.get(), into) == 2);
    CHECK(net::receive_some(between.near.get(), into) == 0);
    between.far.reset();
    CHECK(net::receive_some(between.near.get(), into) == -1);
    CHECK(net::receive_some(-1, into) == -1);
}

TEST_CASE("a record is sent whole or the connection is over") {
    connection between;
    CHECK(net::send_whole(between.near.get(), bytes_of("record")));
    const std::vector<std::byte> long_one(1 << 24);
    CHECK_FALSE(net::send_whole(between.near.get(), long_one));  // takes a part
    CHECK_FALSE(net::send_whole(between.near.get(), bytes_of("x")));
    between.far.reset();
    CHECK_FALSE(net::send_whole(between.near.get(), bytes_of("x")));  // and raises no SIGPIPE
}

TEST_CASE("a handshake continues over a socket as bytes arrive") {
    const connection between;
    key_handshake one = client(), other = server();
    CHECK(net::advance(other, between.far.get()) == step::incomplete);  // no side has sent anything
    CHECK(net::advance(one, between.near.get()) == step::incomplete);
    CHECK(net::advance(other, between.far.get()) == step::incomplete);
    CHECK(net::advance(one, between.near.get()) == step::agreed);
    CHECK(net::advance(other, between.far.get()) == step::agreed);
}

TEST_CASE("a handshake whose bytes arrive one by one succeeds") {
    const connection relay, onward;
    key_handshake one = client(), other = server();
    const auto pass = [](const unique_fd& from, const unique_fd& to) {
        std::array<std::byte, 1> byte{};
        if (net::receive_some(from.get(), byte) == 1) REQUIRE(net::send_whole(to.get(), byte));
    };
    for (int i = 0; i < 200; ++i) {
        static_cast<void>(net::advance(one, relay.near.get()));
        static_cast<void>(net::advance(other, onward.near.get()));
        pass(relay.far, onward.far);
        pass(onward.far, relay.far);
    }
    CHECK(one.now() == step::agreed);
    CHECK(other.now() == step::agreed);
}

TEST_CASE("a handshake over a socket fails with its reason") {
    connection between;
    key_handshake one = client();
    SECTION("the peer has gone") {
        between.far.reset();
        CHECK(net::advance(one, between.near.get()) == step::failed);
        CHECK(one.failure() == handshake_failure::interrupted);
    }
    SECTION("the peer disconnects in the middle of its record") {
        CHECK(net::advance(one, between.near.get()) == step::incomplete);
        between.arrive(bytes_of("HWSO"));
        CHECK(net::advance(one, between.near.get()) == step::incomplete);
        // If received data is unread, a Unix socket ends with an error.
        between.far.reset();
        CHECK(net::advance(one, between.near.get()) == step::failed);
        CHECK(one.failure() == handshake_failure::interrupted);
    }
    SECTION("the peer speaks another protocol") {
        CHECK(net::advance(one, between.near.get()) == step::incomplete);
        between.arrive(bytes_of("HTTP/1.1 400 Bad Request and so on, for all bytes"));
        CHECK(net::advance(one, between.near.get()) == step::failed);
        CHECK(one.failure() == handshake_failure::foreign);
    }
    SECTION("the peer has no key, and gets that reason") {
        key_handshake other = server(nullptr);
        CHECK(net::advance(one, between.near.get()) == step::incomplete);
        CHECK(net::advance(other, between.far.get()) == step::failed);
        CHECK(other.failure() == handshake_failure::own_key_missing);
        CHECK(net::advance(one, between.near.get()) == step::failed);
        CHECK(one.failure() == handshake_failure::peer_key_missing);
    }
    SECTION("the peer has another key") {
        const security::key another = security::key::random();
        key_handshake other = server(&another);
        while (one.now() == step::incomplete) {
            static_cast<void>(net::advance(one, between.near.get()));
            static_cast<void>(net::advance(other, between.far.get()));
        }
        CHECK(one.failure() == handshake_failure::keys_differ);
    }
}
