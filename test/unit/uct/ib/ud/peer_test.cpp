// Unit tests: the peer of a datagram that does not name it is found at a bounded cost.
#include "uct/ib/ud/base/peer.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::ud;

namespace {

constexpr uct::ib::raw_gid host{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

datagram_source source_of(std::uint32_t pair, const uct::ib::raw_gid& gid = host) {
    return {gid, 0, pair};
}

std::shared_ptr<peer> make_peer(std::uint32_t pair, std::uint64_t iface_id) {
    auto made = std::make_shared<peer>();
    made->where.port.link = uct::ib::gid_type::roce_v2;
    made->where.port.gid = host;
    made->where.port.iface_id = iface_id;
    made->where.pair = pair;
    return made;
}

std::shared_ptr<peer> add_heard(peer_table& to, std::uint32_t pair, std::uint64_t iface_id) {
    auto made = make_peer(pair, iface_id);
    to.add(made);
    to.note_heard(*made, source_of(pair));
    return made;
}

// Returns a connection that has that id at the peer.
std::unique_ptr<sending_side> connect(peer& to, std::uint64_t id) {
    auto made = std::make_unique<sending_side>(sender::setup{});
    made->protocol.start();
    packet_list done;
    made->protocol.on_reply({id, made->protocol.pending_request()->count}, psn(), 1, done);
    REQUIRE(made->protocol.remote() == id);
    to.connections.push_back(*made);
    return made;
}

std::vector<const peer*> heard_from(peer_table& in, const datagram_source& source) {
    std::vector<const peer*> found;
    in.visit_heard(source, [&](const peer& each) { found.push_back(&each); });
    return found;
}

struct search {
    const sending_side* found;
    unsigned visits;
};
search find_connection(peer_table& in, const datagram_source& source, std::uint64_t id) {
    unsigned visits = 0;
    const sending_side* const found = in.find_connection(source, [&](const sending_side& each) {
        ++visits;
        return each.protocol.remote() == id;
    });
    return {found, visits};
}

}  // namespace

TEST_CASE(
    "the peer behind a queue pair is found among 10,000 others by a bounded number of looks") {
    constexpr std::uint32_t count = 10'000;
    peer_table table;
    std::vector<std::shared_ptr<peer>> peers;
    std::vector<std::unique_ptr<sending_side>> connections;
    for (std::uint32_t i = 1; i <= count; ++i) {
        peers.push_back(add_heard(table, i, i));
        connections.push_back(connect(*peers.back(), i));
    }
    for (const std::uint32_t pair : {1U, count / 2, count}) {
        CHECK(heard_from(table, source_of(pair)) ==
              std::vector<const peer*>{peers[pair - 1].get()});
        const auto [found, visits] = find_connection(table, source_of(pair), pair);
        CHECK(found == connections[pair - 1].get());
        CHECK(visits <= peer_table::max_visits);
    }
    CHECK(heard_from(table, source_of(count + 1)).empty());
    const auto [none, visits] = find_connection(table, source_of(count + 1), 1);
    CHECK(none == nullptr);
    CHECK(visits <= peer_table::max_visits);
    // The id alone is not sufficient.
    CHECK(find_connection(table, source_of(1), 2).found == nullptr);
}

TEST_CASE("a sender that claims many addresses does not hide other peers") {
    peer_table table;
    std::vector<std::shared_ptr<peer>> claimed;
    std::vector<std::unique_ptr<sending_side>> connections;
    const auto honest = add_heard(table, 8, 1);
    const auto to_honest = connect(*honest, 5);
    for (std::uint64_t id = 1; id <= 10'000; ++id) {
        claimed.push_back(add_heard(table, 7, id));
        connections.push_back(connect(*claimed.back(), 5));
    }
    CHECK(heard_from(table, source_of(8)) == std::vector<const peer*>{honest.get()});
    CHECK(find_connection(table, source_of(8), 5).found == to_honest.get());
    // The addresses that it claimed last get a reply.
    const auto answered = heard_from(table, source_of(7));
    REQUIRE(answered.size() == peer_table::max_replies);
    CHECK(answered.front() == claimed.back().get());
    CHECK(find_connection(table, source_of(7), 6).visits <= peer_table::max_visits);
}

TEST_CASE("a connection beyond the visits of one datagram is found by a later datagram") {
    peer_table table;
    const auto to = add_heard(table, 7, 1);
    std::vector<std::unique_ptr<sending_side>> connections;
    for (std::uint64_t id = 1; id <= 3 * peer_table::max_visits; ++id)
        connections.push_back(connect(*to, id));
    const std::uint64_t wanted = connections.size();
    search last{nullptr, 0};
    for (unsigned datagrams = 0; datagrams < 3; ++datagrams) {
        REQUIRE(last.found == nullptr);
        last = find_connection(table, source_of(7), wanted);
        CHECK(last.visits == peer_table::max_visits);
    }
    CHECK(last.found == connections.back().get());
    // A call that finds nothing visits each connection once.
    connections.resize(2);
    CHECK(find_connection(table, source_of(7), wanted).visits == 2);
}

TEST_CASE("a peer is listed under its last source, if replies reach it there") {
    constexpr uct::ib::raw_gid other{0xfe, 0x80, 1}, unreadable{};
    peer_table table;
    const auto known = add_heard(table, 7, 1);
    CHECK(heard_from(table, source_of(7)).size() == 1);
    for (const datagram_source& elsewhere : {source_of(8), source_of(7, other)}) {
        table.note_heard(*known, elsewhere);
        CHECK(heard_from(table, elsewhere).empty());
    }
    CHECK(heard_from(table, source_of(7)).size() == 1);
    table.note_heard(*known, source_of(7, unreadable));
    CHECK(heard_from(table, source_of(7, unreadable)).size() == 1);
    CHECK(heard_from(table, source_of(7)).empty());
    // Within a subnet of InfiniBand peers are heard from a LID.
    const auto local = make_peer(9, 1);
    local->where.port.link = uct::ib::gid_type::infiniband;
    local->where.port.lid = 3;
    table.add(local);
    table.note_heard(*local, {{}, 3, 9});
    CHECK(heard_from(table, {{}, 3, 9}).size() == 1);
    CHECK(heard_from(table, {{}, 4, 9}).empty());
}

TEST_CASE("the peer that was heard last gets the first reply") {
    peer_table table;
    std::vector<std::shared_ptr<peer>> peers;
    for (std::uint64_t id = 1; id <= 10; ++id)
        peers.push_back(add_heard(table, 7, id));
    table.note_heard(*peers[2], source_of(7));
    const auto answered = heard_from(table, source_of(7));
    CHECK(answered ==
          std::vector<const peer*>{peers[2].get(), peers[9].get(), peers[8].get(), peers[7].get()});
}

TEST_CASE("unused peers are removed") {
    peer_table table;
    const auto used = add_heard(table, 5, 1);
    for (std::uint32_t i = 1; i <= 1000; ++i)
        static_cast<void>(add_heard(table, i, 2));
    CHECK(table.find(used->where) == used);
    CHECK(heard_from(table, source_of(5)) == std::vector<const peer*>{used.get()});
    CHECK(heard_from(table, source_of(6)).empty());
    CHECK(table.size() < 200);
}
