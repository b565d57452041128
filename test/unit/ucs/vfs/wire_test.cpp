// Tests of the protocol between ucx_vfs and processes, and of their socket names.
#include "ucs/vfs/wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/support/socket_pair.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/vfs/names.hpp"

namespace vfs = ucs::vfs;
namespace wire = ucs::vfs::wire;

namespace {

struct pair : test::socket_pair {
    pair() : test::socket_pair(SOCK_SEQPACKET | SOCK_NONBLOCK) {}
};

std::string bytes_of(const wire::header& head) {
    return {reinterpret_cast<const char*>(&head), sizeof head};
}

}  // namespace

TEST_CASE("packets carry a kind, a text and optionally a descriptor") {
    pair sockets;
    bool over = true;
    CHECK(!wire::receive(sockets.far.get(), over));
    CHECK(!over);
    REQUIRE(wire::send(sockets.near.get(), wire::kind::ready, "program") == 0);
    REQUIRE(wire::send(sockets.near.get(), wire::kind::mounted, {}, STDERR_FILENO) == 0);
    const auto first = wire::receive(sockets.far.get(), over);
    REQUIRE(first);
    CHECK(first->type == wire::kind::ready);
    CHECK(first->text == "program");
    CHECK(!first->descriptor);
    const auto second = wire::receive(sockets.far.get(), over);
    REQUIRE(second);
    CHECK(second->type == wire::kind::mounted);
    CHECK(second->descriptor);
    sockets.near.reset();
    CHECK(!wire::receive(sockets.far.get(), over));
    CHECK(over);
}

TEST_CASE("an invalid packet is refused and ends the connection") {
    const std::string whole = bytes_of({wire::magic, wire::version, 1});
    REQUIRE(wire::parse(std::as_bytes(std::span(whole))));
    for (const std::string& bytes :
         {whole.substr(0, 1), whole.substr(0, whole.size() - 1),
          bytes_of({wire::magic, wire::version + 1, 1}), bytes_of({1, wire::version, 1}),
          bytes_of({wire::magic, wire::version, 0}), bytes_of({wire::magic, wire::version, 5}),
          whole + std::string(wire::longest_text + 1, 'a')}) {
        CHECK(!wire::parse(std::as_bytes(std::span(bytes))));
        pair sockets;
        REQUIRE(::send(sockets.near.get(), bytes.data(), bytes.size(), 0) > 0);
        bool over = false;
        CHECK(!wire::receive(sockets.far.get(), over));
        CHECK(over);
    }
}

TEST_CASE("a text is reduced to one line without control characters") {
    const std::string bytes =
        bytes_of({wire::magic, wire::version, 1}) + "gr\xc3\xb6\xc3\x9f" + "e\n\x1b[2J\x7f";
    const auto said = wire::parse(std::as_bytes(std::span(bytes)));
    REQUIRE(said);
    CHECK(said->text ==
          "gr\xc3\xb6\xc3\x9f"
          "e\\x0a\\x1b[2J\\x7f");
}

TEST_CASE("a long text is cut") {
    pair sockets;
    bool over = false;
    REQUIRE(wire::send(sockets.near.get(), wire::kind::refused, std::string(5000, 'a')) == 0);
    const auto got = wire::receive(sockets.far.get(), over);
    REQUIRE(got);
    CHECK(got->text.size() == wire::longest_text);
}

TEST_CASE("processes listen under names with a common prefix, and see the peer's credentials") {
    const std::string key = "test of names " + std::to_string(::getpid());
    const std::string one = vfs::process_name(::geteuid(), key);
    const std::string two = vfs::process_name(::geteuid(), key);
    CHECK(one != two);
    CHECK(one.starts_with(vfs::name_prefix(::geteuid(), key)));
    CHECK(!one.starts_with(vfs::name_prefix(::geteuid(), key + "x")));
    CHECK(!vfs::connect_to(one));
    const ucs::unique_fd listener = vfs::listen_at(one);
    REQUIRE(listener);
    CHECK(!vfs::listen_at(one));
    const ucs::unique_fd caller = vfs::connect_to(one);
    REQUIRE(caller);
    const auto peer = ucs::sys::read_peer_credentials(caller.get());
    REQUIRE(peer);
    CHECK(peer->uid == ::geteuid());
    CHECK(peer->pid == ::getpid());
}
