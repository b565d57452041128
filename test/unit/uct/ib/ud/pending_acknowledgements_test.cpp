// Unit tests: acknowledgements are sent when they are urgent, or when no other datagram comes.
#include "uct/ib/ud/base/pending_acknowledgements.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::ud;

namespace {

class connections {
public:
    receiver& add() {
        peers_.push_back(std::make_shared<peer>());
        wire::hello hello;
        hello.connection = peers_.size();
        return table_.add(peers_.back(), hello, psn(1), datagram_source{});
    }
    void remove(receiver& gone) { table_.remove(gone); }

private:
    std::vector<std::shared_ptr<peer>> peers_;
    receiver_table table_;
};

}  // namespace

TEST_CASE("an urgent acknowledgement is found without visiting others") {
    connections all;
    pending_acknowledgements pending;
    std::vector<receiver*> lazy;
    for (int i = 0; i < 1000; ++i) {
        lazy.push_back(&all.add());
        pending.add(*lazy.back(), false);
    }
    CHECK(pending.next(true) == nullptr);
    receiver& urgent = all.add();
    pending.add(urgent, true);
    CHECK(pending.next(true) == &urgent);
    pending_acknowledgements::settle(urgent);
    CHECK(pending.next(true) == nullptr);
    for (receiver* each : lazy) {
        REQUIRE(pending.next(false) == each);
        pending_acknowledgements::settle(*each);
    }
    CHECK(pending.empty());
}

TEST_CASE("an acknowledgement becomes urgent when its sender waits or many packets have come") {
    connections all;
    pending_acknowledgements pending;
    receiver& asked = all.add();
    receiver& busy = all.add();
    pending.add(asked, false);
    pending.add(busy, false);
    CHECK(pending.next(true) == nullptr);
    pending.add(asked, true);
    CHECK(pending.next(true) == &asked);
    pending.add(asked, false);  // it stays urgent
    pending_acknowledgements::settle(asked);
    for (int packets = 1; packets < 15; ++packets) {
        pending.add(busy, false);
        REQUIRE(pending.next(true) == nullptr);
    }
    pending.add(busy, false);
    CHECK(pending.next(true) == &busy);
    pending_acknowledgements::settle(busy);
    CHECK(pending.empty());
    // The count of packets starts again.
    pending.add(busy, false);
    CHECK(pending.next(true) == nullptr);
    CHECK(pending.next(false) == &busy);
}

TEST_CASE("the next datagram to a peer carries a pending acknowledgement") {
    connections all;
    pending_acknowledgements pending;
    receiver& from = all.add();
    pending.add(from, false);
    CHECK(from.from().pending_ack == &from);
    pending_acknowledgements::settle(from);
    CHECK(from.from().pending_ack == nullptr);
    pending.add(from, true);
    all.remove(from);
    CHECK(pending.empty());
}
