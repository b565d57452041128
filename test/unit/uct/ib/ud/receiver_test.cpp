// Unit tests: requests find their connection, and a table of receivers stays within its limits.
#include "uct/ib/ud/base/receiver.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace uct::ud;

namespace {

std::shared_ptr<peer> make_peer(std::uint64_t iface_id) {
    auto made = std::make_shared<peer>();
    made->where.port.iface_id = iface_id;
    return made;
}

wire::hello hello_of(const peer& from, std::uint64_t connection, std::uint32_t patience = 30) {
    return {.from = from.where, .connection = connection, .timeout = patience};
}

constexpr datagram_source home{{}, 0, 1};
datagram_source source_of(std::uint32_t pair) {
    return {{}, 0, pair};
}

// Delivers one message.
void deliver(receiver& to) {
    to.window.advance();
}

struct one_connection {
    receiver_table table;
    const std::shared_ptr<peer> from = make_peer(1);
    receiver& rx = table.add(from, hello_of(*from, 7), psn(10), home);
};

}  // namespace

TEST_CASE("connections are distinguished by interface and by endpoint") {
    receiver_table table;
    const auto one = make_peer(1), two = make_peer(2);
    receiver* const a = &table.add(one, hello_of(*one, 7), psn(10), home);
    receiver* const b = &table.add(one, hello_of(*one, 8), psn(20), home);
    receiver* const c = &table.add(two, hello_of(*two, 7), psn(30), home);
    REQUIRE((a != nullptr && b != nullptr && c != nullptr));
    CHECK(table.size() == 3);
    CHECK(table.find(one->where, 7) == a);
    CHECK(table.find(one->where, 8) == b);
    CHECK(table.find(two->where, 7) == c);
    CHECK(table.find(two->where, 8) == nullptr);
    CHECK(table.find(a->id()) == a);
    CHECK(table.find(c->id()) == c);
    CHECK(c->window.expected() == psn(30));
    CHECK(c->source() == 7);
    const std::uint64_t gone = a->id();
    one->pending_ack = a;
    table.remove(*a);
    CHECK(table.find(gone) == nullptr);
    CHECK(table.find(one->where, 7) == nullptr);
    CHECK(one->pending_ack == nullptr);
    // The same endpoint connecting again makes another connection.
    CHECK(table.add(one, hello_of(*one, 7), psn(11), home).id() != gone);
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(gone + 1) == nullptr);
}

TEST_CASE_METHOD(one_connection, "only the newest resync counts") {
    CHECK(rx.is_new_resync(3));
    CHECK_FALSE(rx.is_new_resync(3));
    CHECK_FALSE(rx.is_new_resync(2));
    CHECK(rx.is_new_resync(4));
}

TEST_CASE("a connection is removed when its sender must have given up") {
    receiver_table table;
    const auto from = make_peer(1);
    receiver* const silent = &table.add(from, hello_of(*from, 7, 10), psn(1), home);
    receiver* const active = &table.add(from, hello_of(*from, 8, 10), psn(1), home);
    const auto sweep = [&] {
        active->heard = true;
        table.sweep(5, [&](receiver& each) { table.remove(each); });
    };
    // The first sweep only starts the count, because the receiver was heard until then.
    for (int i = 0; i < 5; ++i)
        sweep();
    CHECK(table.find(from->where, 7) == silent);
    sweep();
    CHECK(table.find(from->where, 7) == nullptr);
    CHECK(table.find(from->where, 8) == active);
}

TEST_CASE_METHOD(
    one_connection,
    "only a receiver that has delivered nothing unknown to its sender is forgettable") {
    CHECK(rx.is_forgettable());
    deliver(rx);
    CHECK_FALSE(rx.is_forgettable());
    rx.confirm(psn(10));
    CHECK_FALSE(rx.is_forgettable());
    rx.confirm(psn(11));
    CHECK(rx.is_forgettable());
    // The received parts of a message would be lost.
    static_cast<void>(rx.parts.add(true, false, {}, 10));
    deliver(rx);
    rx.confirm(psn(12));
    CHECK_FALSE(rx.is_forgettable());
}

TEST_CASE("a source has a limited number of connections and displaces its own") {
    receiver_table table({100, 3});
    std::vector<std::shared_ptr<peer>> peers;
    std::vector<receiver*> made;
    // The sender can invent an interface id for each.
    for (std::uint64_t i = 1; i <= 3; ++i) {
        REQUIRE(table.admit(source_of(5)).admitted);
        peers.push_back(make_peer(i));
        made.push_back(&table.add(peers.back(), hello_of(*peers.back(), i), psn(1), source_of(5)));
    }
    CHECK(table.admit(source_of(6)).admitted);
    CHECK(table.admit(source_of(6)).displaced == nullptr);
    deliver(*made[0]);
    deliver(*made[2]);
    CHECK(table.admit(source_of(5)).displaced == made[1]);
    deliver(*made[1]);
    CHECK_FALSE(table.admit(source_of(5)).admitted);
    CHECK(table.admit(source_of(6)).admitted);
    table.remove(*made[0]);
    CHECK(table.admit(source_of(5)).admitted);
}

TEST_CASE("a new connection displaces one of the source with the most connections") {
    receiver_table table({10, 8});
    const auto many = make_peer(1), few = make_peer(2);
    for (std::uint64_t i = 0; i < 2; ++i)
        deliver(table.add(few, hello_of(*few, i + 1), psn(1), source_of(6)));
    for (std::uint64_t i = 0; i < 8; ++i)
        deliver(table.add(many, hello_of(*many, i + 1), psn(1), source_of(5)));
    const auto [admitted, displaced] = table.admit(source_of(7));
    CHECK(admitted);
    REQUIRE(displaced != nullptr);
    CHECK(&displaced->from() == many.get());
    CHECK_FALSE(displaced->is_forgettable());
    table.remove(*displaced);
    receiver& newcomer = table.add(make_peer(3), hello_of(*few, 1), psn(1), source_of(7));
    // A forgettable receiver is displaced before all others.
    CHECK(table.admit(source_of(6)).displaced == &newcomer);
}

TEST_CASE("nothing is displaced if all sources have equally many connections") {
    receiver_table table({4, 8});
    for (std::uint32_t pair = 1; pair <= 4; ++pair) {
        const auto from = make_peer(pair);
        deliver(table.add(from, hello_of(*from, 1), psn(1), source_of(pair)));
    }
    CHECK_FALSE(table.admit(source_of(5)).admitted);
    CHECK(table.admit(source_of(5)).displaced == nullptr);
}

TEST_CASE("the limit holds for any number of new connections") {
    receiver_table table({200, 150});
    std::vector<std::shared_ptr<peer>> peers;
    for (std::uint32_t i = 1; i <= 1000; ++i) {
        const datagram_source source = source_of(i % 2);
        const auto [admitted, displaced] = table.admit(source);
        REQUIRE(admitted);
        if (displaced != nullptr) table.remove(*displaced);
        peers.push_back(make_peer(i));
        REQUIRE(table.add(peers.back(), hello_of(*peers.back(), 1), psn(1), source).id() != 0);
        CHECK(table.size() <= 200);
    }
}

TEST_CASE_METHOD(one_connection, "memory for incomplete messages is freed when there are none") {
    REQUIRE(rx.parts.reserve(10));
    rx.release_memory();
    CHECK_FALSE(rx.parts.has_memory());
    static_cast<void>(rx.parts.add(true, false, {}, 10));
    rx.release_memory();
    CHECK(rx.parts.has_memory());
    static_cast<void>(rx.parts.add(false, true, {}, 10));
    rx.release_memory();
    CHECK_FALSE(rx.parts.has_memory());
}

TEST_CASE_METHOD(one_connection,
                 "kept packets whose predecessor does not come are found by the second sweep") {
    CHECK_FALSE(rx.is_stalled());
    CHECK_FALSE(rx.is_stalled());
    REQUIRE(rx.window.keep(psn(12), {}));
    CHECK_FALSE(rx.is_stalled());
    deliver(rx);
    CHECK_FALSE(rx.is_stalled());
    CHECK(rx.is_stalled());
    rx.window.drop([](const kept_packet&) {});
    CHECK_FALSE(rx.is_stalled());
}

TEST_CASE("one source cannot hold all the buffers for packets that came early") {
    constexpr std::size_t most = 100;
    receiver_table table;
    const auto greedy = make_peer(1), other = make_peer(2);
    receiver& one = table.add(greedy, hello_of(*greedy, 7), psn(1), source_of(1));
    receiver& two = table.add(greedy, hello_of(*greedy, 8), psn(1), source_of(1));
    receiver& last = table.add(other, hello_of(*other, 7), psn(1), source_of(2));
    const auto fill = [&](receiver& in) {
        std::size_t kept = 0;
        for (; table.may_keep(in, most); ++kept)
            table.count_kept(in);
        return kept;
    };
    CHECK(fill(one) == 50);
    CHECK(fill(two) == 0);
    CHECK(fill(last) == 25);
    CHECK(table.kept() == 75);
    for (int i = 0; i < 50; ++i)
        table.count_released(one);
    CHECK(fill(last) == 25);
    CHECK(table.kept() == 50);
}

TEST_CASE("a datagram matches only the port that the network reports as its source") {
    uct::ib::address port;
    port.link = uct::ib::gid_type::roce_v2;
    port.gid.fill(1);
    datagram_source source{port.gid, 0, 7};
    CHECK(source.may_be(port, 7));
    CHECK_FALSE(source.may_be(port, 8));
    source.gid.back() = 2;
    CHECK_FALSE(source.may_be(port, 7));
    source.gid = {};  // cannot be read
    CHECK(source.may_be(port, 7));
    // Replies within a subnet of InfiniBand use the LID, whatever the route header says.
    port.link = uct::ib::gid_type::infiniband;
    port.lid = source.lid = 3;
    CHECK(source.may_be(port, 7));
    source.lid = 4;
    CHECK_FALSE(source.may_be(port, 7));
    source.gid = port.gid;
    CHECK_FALSE(source.may_be(port, 7));
    // Replies to a port without a LID use the GID.
    port.lid = 0;
    CHECK(source.may_be(port, 7));
    source.gid.back() = 2;
    CHECK_FALSE(source.may_be(port, 7));
}

TEST_CASE("the source of a datagram is read from the route header of the receiver's network") {
    std::array<std::byte, wire::route_header> header{};
    uct::ib::address over_ipv4, over_ipv6, infiniband;
    over_ipv4.link = over_ipv6.link = uct::ib::gid_type::roce_v2;
    over_ipv4.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 0, 199};
    over_ipv6.gid = {0xfe, 0x80};
    infiniband.gid = {0xfe, 0x80};
    const uct::ib::raw_gid unknown{};
    for (const auto& each : {over_ipv4, over_ipv6, infiniband})
        CHECK(source_gid(header, each) == unknown);
    // IPv4: the device writes the header after 20 undefined bytes (RFC 791; some devices leave out
    // the checksum).
    header[0] = std::byte{0x60};
    const std::array<std::uint8_t, 20> ipv4{0x45, 0, 0,   0x73, 0, 0, 0x40, 0,   0x40, 0x11,
                                            0,    0, 192, 168,  0, 1, 192,  168, 0,    199};
    std::memcpy(header.data() + 20, ipv4.data(), ipv4.size());
    const uct::ib::raw_gid mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 0, 1};
    CHECK(source_gid(header, over_ipv4) == mapped);
    // A global route header that also looks like IPv4.
    uct::ib::raw_gid routed{};
    std::memcpy(routed.data(), header.data() + 8, routed.size());
    CHECK(source_gid(header, over_ipv6) == routed);
    CHECK(source_gid(header, infiniband) == routed);
    header[0] = std::byte{0x40};
    CHECK(source_gid(header, infiniband) == unknown);
}

TEST_CASE("an address that claims the interface id of another is another peer") {
    const auto honest = make_peer(1), liar = make_peer(1);
    honest->where.pair = 10;
    liar->where.pair = 11;
    peer_table peers;
    peers.add(liar);
    CHECK(peers.find(honest->where) == nullptr);
    peers.add(honest);
    CHECK(peers.find(honest->where) == honest);
    CHECK(peers.find(liar->where) == liar);
    receiver_table table;
    receiver* const false_one = &table.add(liar, hello_of(*liar, 7), psn(1), source_of(11));
    CHECK(table.find(honest->where, 7) == nullptr);
    receiver* const right_one = &table.add(honest, hello_of(*honest, 7), psn(1), source_of(10));
    REQUIRE((false_one != nullptr && right_one != nullptr));
    CHECK(table.find(honest->where, 7) == right_one);
    table.remove(*false_one);
    CHECK(table.find(honest->where, 7) == right_one);
    CHECK(table.find(liar->where, 7) == nullptr);
}
