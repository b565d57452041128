#include "uct/ib/ud/base/wire.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "ucs/config/source.hpp"
#include "uct/ib/ud/base/settings.hpp"

using namespace uct::ud;

namespace {

wire::address some_address() {
    wire::address made;
    made.port.link = uct::ib::gid_type::roce_v2;
    made.port.mtu = IBV_MTU_1024;
    made.port.read_depth = 1;
    made.port.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    made.port.iface_id = 0x1234567890abcdef;
    made.pair = 0x123456;
    made.key = 0x7fffffff;
    return made;
}

template<class Body>
std::vector<std::byte> packed(const Body& body) {
    std::vector<std::byte> bytes(Body::size);
    body.pack(bytes);
    return bytes;
}

std::vector<std::byte> datagram(wire::kind type, std::size_t body, std::uint64_t to = 1) {
    wire::header head{};
    head.version = wire::version;
    head.type = type;
    head.to = to;
    std::vector<std::byte> bytes(wire::header_size + body);
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

}  // namespace

TEST_CASE("the bodies of datagrams survive packing and parsing") {
    const wire::hello hello{some_address(), 77, 5, 30};
    CHECK(wire::hello::parse(packed(hello)) == hello);
    CHECK(wire::address::parse(packed(some_address())) == some_address());
    const wire::welcome welcome{99, 5};
    CHECK(wire::welcome::parse(packed(welcome)) == welcome);
}

TEST_CASE("invalid addresses are refused") {
    auto with = [](auto change) {
        wire::address made = some_address();
        change(made);
        return wire::address::parse(packed(made));
    };
    CHECK_FALSE(with([](wire::address& a) { a.pair = 0; }));
    CHECK_FALSE(with([](wire::address& a) { a.pair = 1U << 24U; }));
    CHECK_FALSE(with([](wire::address& a) { a.key = 1U << 31U; }));
    CHECK_FALSE(with([](wire::address& a) { a.port.iface_id = 0; }));
    std::vector<std::byte> longer = packed(some_address());
    longer.push_back({});
    CHECK_FALSE(wire::address::parse(longer));
    CHECK_FALSE(wire::hello::parse(packed(wire::hello{some_address(), 0, 0, 0})));
    CHECK_FALSE(wire::welcome::parse(packed(wire::welcome{0, 0})));
}

TEST_CASE("a sender whose timeout exceeds the option's maximum is refused") {
    const auto with = [](std::uint32_t patience) {
        return wire::hello::parse(packed(wire::hello{some_address(), 1, 0, patience}));
    };
    CHECK(with(3601));
    CHECK_FALSE(with(3602));
    CHECK_FALSE(with(0xffffffff));
    // Peers accept the longest timeout that a program can set.
    auto longest = ucs::config::source::empty();
    longest.set("UD_VERBS_TIMEOUT", "inf");
    const auto loaded = ucs::config::load<settings>(longest);
    REQUIRE(loaded);
    CHECK(with(static_cast<std::uint32_t>(loaded->timeout.seconds + 1)));
}

TEST_CASE("a datagram must have a body that fits its type") {
    const auto fits = [](wire::kind type, std::size_t body, std::uint64_t to = 1) {
        auto bytes = datagram(type, body, to);
        return wire::parse(bytes).has_value();
    };
    CHECK(fits(wire::kind::data, 0));
    CHECK(fits(wire::kind::data, 4000));
    CHECK_FALSE(fits(wire::kind::data, 8, 0));
    CHECK(fits(wire::kind::request, wire::hello::size, 0));
    CHECK_FALSE(fits(wire::kind::request, wire::hello::size - 1));
    CHECK_FALSE(fits(wire::kind::resync, wire::hello::size + 1));
    CHECK(fits(wire::kind::reply, wire::welcome::size));
    CHECK_FALSE(fits(wire::kind::reply, wire::welcome::size, 0));
    CHECK(fits(wire::kind::ended, 8, 0));
    CHECK_FALSE(fits(wire::kind::ended, 0));
    CHECK(fits(wire::kind::refuse, 0));
    CHECK_FALSE(fits(wire::kind::ack, 8));  // acknowledges no connection
    CHECK_FALSE(fits(static_cast<wire::kind>(0), 0));
    CHECK_FALSE(fits(static_cast<wire::kind>(99), 0));
    auto other = datagram(wire::kind::data, 0);
    other[0] = std::byte{2};
    CHECK_FALSE(wire::parse(other));
    for (std::size_t length = 0; length < wire::header_size; ++length)
        CHECK_FALSE(wire::parse(std::span(other).first(length)));
}

TEST_CASE("the parser accepts arbitrary bytes") {
    std::mt19937 dice(5);
    std::vector<std::byte> bytes;
    for (int round = 0; round < 20'000; ++round) {
        bytes.resize(dice() % 120);
        for (std::byte& each : bytes)
            each = static_cast<std::byte>(dice() % 4 == 0 ? dice() : dice() % 9);
        if (!bytes.empty() && dice() % 2 == 0) bytes[0] = std::byte{wire::version};
        const auto found = wire::parse(bytes);
        if (!found) continue;
        CHECK(found->body.size() == bytes.size() - wire::header_size);
        static_cast<void>(wire::hello::parse(found->body));
        static_cast<void>(wire::welcome::parse(found->body));
    }
}
