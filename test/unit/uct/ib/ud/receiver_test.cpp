// Requests find the connection that they are about.
#include "uct/ib/ud/base/receiver.hpp"

#include <catch2/catch.hpp>

using namespace uct::ud;

namespace {

std::shared_ptr<peer> make_peer(std::uint64_t iface_id) {
    auto made = std::make_shared<peer>();
    made->where.port.iface_id = iface_id;
    return made;
}

wire::hello hello_of(const peer& from, std::uint64_t connection, std::uint32_t patience = 30) {
    wire::hello made;
    made.from = from.where;
    made.connection = connection;
    made.patience = patience;
    return made;
}

}  // namespace

TEST_CASE("connections are told apart by interface and by endpoint") {
    receiver_table table;
    const auto one = make_peer(1), two = make_peer(2);
    receiver* const a = table.add(one, hello_of(*one, 7), psn(10));
    receiver* const b = table.add(one, hello_of(*one, 8), psn(20));
    receiver* const c = table.add(two, hello_of(*two, 7), psn(30));
    REQUIRE((a != nullptr && b != nullptr && c != nullptr));
    CHECK(table.size() == 3);
    CHECK(table.find(1, 7) == a);
    CHECK(table.find(1, 8) == b);
    CHECK(table.find(2, 7) == c);
    CHECK(table.find(2, 8) == nullptr);
    CHECK(table.find(a->id()) == a);
    CHECK(table.find(c->id()) == c);
    CHECK(c->window.expected() == psn(30));
    CHECK(c->source() == 7);
    const std::uint64_t gone = a->id();
    one->owed = a;
    table.remove(*a);
    CHECK(table.find(gone) == nullptr);
    CHECK(table.find(1, 7) == nullptr);
    CHECK(one->owed == nullptr);
    // The same endpoint again is another connection.
    CHECK(table.add(one, hello_of(*one, 7), psn(11))->id() != gone);
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(gone + 1) == nullptr);
}

TEST_CASE("only the newest resync counts") {
    receiver_table table;
    const auto from = make_peer(1);
    receiver& of = *table.add(from, hello_of(*from, 7), psn(10));
    CHECK(of.is_new_resync(3));
    CHECK_FALSE(of.is_new_resync(3));
    CHECK_FALSE(of.is_new_resync(2));
    CHECK(of.is_new_resync(4));
}

TEST_CASE("a connection is forgotten when its sender must have given up") {
    receiver_table table;
    const auto from = make_peer(1);
    receiver* const silent = table.add(from, hello_of(*from, 7, 10), psn(1));
    receiver* const active = table.add(from, hello_of(*from, 8, 10), psn(1));
    const auto sweep = [&] {
        active->heard = true;
        table.sweep(5, [&](receiver& each) { table.remove(each); });
    };
    // The first sweep only begins to count, for it was heard until then.
    for (int i = 0; i < 5; ++i)
        sweep();
    CHECK(table.find(1, 7) == silent);
    sweep();
    CHECK(table.find(1, 7) == nullptr);
    CHECK(table.find(1, 8) == active);
}
