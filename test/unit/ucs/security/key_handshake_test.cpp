// Tests of the handshake at the start of connections.
#include "ucs/security/key_handshake.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

using namespace ucs::security;

namespace {

using bytes_in_flight = std::vector<std::byte>;

const key first = key::from_text("the key of the first job");
const key second = key::from_text("the key of the second job");

// Both sides of a connection that delivers at most `piece` bytes at a time.
struct connection {
    connection(const key* of_client, const key* of_server, std::string_view purpose = "test",
               std::size_t largest_piece = 64)
        : client(key_handshake::role::client, of_client, "test"),
          server(key_handshake::role::server, of_server, purpose),
          piece(largest_piece) {}

    static void deliver(bytes_in_flight& from, key_handshake& to, std::size_t piece) {
        while (!from.empty() && to.now() == key_handshake::step::incomplete) {
            const auto space = to.space();
            const std::size_t count = std::min({piece, from.size(), space.size()});
            std::copy_n(from.begin(), count, space.begin());
            from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
            to.take(count);
        }
    }
    static void collect(key_handshake& from, bytes_in_flight& into) {
        into.insert(into.end(), from.output().begin(), from.output().end());
        from.sent();
    }
    void run() {
        for (int turn = 0; turn < 4; ++turn) {
            collect(client, to_server);
            deliver(to_server, server, piece);
            collect(server, to_client);
            deliver(to_client, client, piece);
        }
    }

    key_handshake client;
    key_handshake server;
    bytes_in_flight to_server;
    bytes_in_flight to_client;
    std::size_t piece;
};

void check_failed(const key_handshake& side, handshake_failure expected) {
    CHECK(side.now() == key_handshake::step::failed);
    CHECK(side.failure() == expected);
}

}  // namespace

TEST_CASE("two sides agree with the same key, and without keys, in pieces of any size") {
    const std::size_t piece = GENERATE(1U, 7U, 64U);
    const bool keyed = GENERATE(false, true);
    connection both(keyed ? &first : nullptr, keyed ? &first : nullptr, "test", piece);
    both.run();
    CHECK(both.client.now() == key_handshake::step::agreed);
    CHECK(both.server.now() == key_handshake::step::agreed);
    CHECK(both.server.has_record());
    // The handshake consumes no byte of the following data.
    CHECK(both.to_server.empty());
    CHECK(both.to_client.empty());
}

TEST_CASE("both sides get the reason of a failure") {
    SECTION("different keys") {
        connection both(&first, &second);
        both.run();
        check_failed(both.client, handshake_failure::keys_differ);
        check_failed(both.server, handshake_failure::keys_differ);
    }
    SECTION("a key for another purpose") {
        connection both(&first, &first, "another purpose");
        both.run();
        check_failed(both.client, handshake_failure::keys_differ);
        check_failed(both.server, handshake_failure::keys_differ);
    }
    SECTION("only the server has a key") {
        connection both(nullptr, &first);
        both.run();
        check_failed(both.client, handshake_failure::own_key_missing);
        check_failed(both.server, handshake_failure::peer_key_missing);
    }
    SECTION("only the client has a key") {
        connection both(&first, nullptr);
        both.run();
        check_failed(both.client, handshake_failure::peer_key_missing);
        check_failed(both.server, handshake_failure::own_key_missing);
    }
}

TEST_CASE("a client with a key refuses a server that only accepts") {
    key_handshake client(key_handshake::role::client, &first, "test");
    connection plain(nullptr, nullptr);
    connection::collect(plain.client, plain.to_server);
    connection::deliver(plain.to_server, plain.server, 64);
    connection::collect(plain.server, plain.to_client);
    connection::deliver(plain.to_client, client, 64);
    check_failed(client, handshake_failure::peer_key_missing);
}

TEST_CASE("a recorded handshake cannot be replayed") {
    connection recorded(&first, &first);
    bytes_in_flight said;
    connection::collect(recorded.client, said);
    recorded.to_server = said;
    connection::deliver(recorded.to_server, recorded.server, 64);
    connection::collect(recorded.server, recorded.to_client);
    connection::deliver(recorded.to_client, recorded.client, 64);
    connection::collect(recorded.client, said);
    key_handshake again(key_handshake::role::server, &first, "test");
    connection::deliver(said, again, 64);
    check_failed(again, handshake_failure::keys_differ);
}

TEST_CASE("a proof for another header of the hello is refused") {
    const key purpose = key::derive(first, "hawser opening", bytes_of("test"));
    const bool is_same = GENERATE(true, false);
    key_handshake client(key_handshake::role::client, &first, "test");
    bytes_in_flight hello;
    connection::collect(client, hello);
    bytes_in_flight header(hello.begin(), hello.begin() + 8);
    if (!is_same) header[6] = std::byte{0};  // as if it had come without a key
    responder server(purpose, header, std::span<const std::byte, nonce_size>(hello.data() + 8, 16));
    bytes_in_flight challenge(hello.begin(), hello.begin() + 8);
    challenge[5] = std::byte{3};
    const reply answer = server.answer();
    challenge.insert(challenge.end(), answer.begin(), answer.end());
    connection::deliver(challenge, client, 64);
    if (is_same) {
        CHECK(client.now() == key_handshake::step::agreed);
        CHECK(server.accepts(client.output().subspan<8, proof_size>()));
    } else {
        check_failed(client, handshake_failure::keys_differ);
    }
}

TEST_CASE("other protocols are recognised by their first bytes") {
    key_handshake server(key_handshake::role::server, &first, "test");
    const std::string text = "GET";
    std::ranges::copy(bytes_of(text), server.space().begin());
    CHECK(server.take(text.size()) == key_handshake::step::failed);
    CHECK(server.failure() == handshake_failure::foreign);
    CHECK(server.output().empty());
}

TEST_CASE("every changed bit of a handshake is detected, without harm") {
    const unsigned seed = GENERATE(range(1U, 65U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    connection both(&first, &first);
    const auto change = [&](bytes_in_flight& sent) {
        if (sent.empty()) return;
        sent[random() % sent.size()] ^= static_cast<std::byte>(1U << random() % 8);
    };
    const auto record = random() % 3;
    connection::collect(both.client, both.to_server);
    if (record == 0) change(both.to_server);
    connection::deliver(both.to_server, both.server, 64);
    connection::collect(both.server, both.to_client);
    if (record == 1) change(both.to_client);
    connection::deliver(both.to_client, both.client, 64);
    connection::collect(both.client, both.to_server);
    if (record == 2) change(both.to_server);
    connection::deliver(both.to_server, both.server, 64);
    connection::collect(both.server, both.to_client);
    connection::deliver(both.to_client, both.client, 64);
    CHECK_FALSE((both.client.now() == key_handshake::step::agreed &&
                 both.server.now() == key_handshake::step::agreed));
    if (record == 2) CHECK(both.server.now() == key_handshake::step::failed);
}
