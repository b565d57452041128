// Acknowledgements go by themselves when they are urgent, or when nothing else comes in.
#include "uct/ib/ud/base/owed_acknowledgements.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::ud;

namespace {

class connections {
public:
    receiver& add() {
        peers_.push_back(std::make_shared<peer>());
        wire::hello by;
        by.connection = peers_.size();
        return *table_.add(peers_.back(), by, psn(1), datagram_source{});
    }
    void remove(receiver& gone) { table_.remove(gone); }

private:
    std::vector<std::shared_ptr<peer>> peers_;
    receiver_table table_;
};

}  // namespace

TEST_CASE("an urgent acknowledgement is found without a look at others") {
    connections all;
    owed_acknowledgements owed;
    std::vector<receiver*> lazy;
    for (int i = 0; i < 1000; ++i) {
        lazy.push_back(&all.add());
        owed.add(*lazy.back(), false);
    }
    CHECK(owed.next(true) == nullptr);
    receiver& urgent = all.add();
    owed.add(urgent, true);
    CHECK(owed.next(true) == &urgent);
    owed_acknowledgements::settle(urgent);
    CHECK(owed.next(true) == nullptr);
    for (receiver* each : lazy) {
        REQUIRE(owed.next(false) == each);
        owed_acknowledgements::settle(*each);
    }
    CHECK(owed.empty());
}

TEST_CASE("an acknowledgement becomes urgent when its sender waits or many packets have come") {
    connections all;
    owed_acknowledgements owed;
    receiver& asked = all.add();
    receiver& busy = all.add();
    owed.add(asked, false);
    owed.add(busy, false);
    CHECK(owed.next(true) == nullptr);
    owed.add(asked, true);
    CHECK(owed.next(true) == &asked);
    owed.add(asked, false);  // it stays urgent
    owed_acknowledgements::settle(asked);
    for (int packets = 1; packets < 15; ++packets) {
        owed.add(busy, false);
        REQUIRE(owed.next(true) == nullptr);
    }
    owed.add(busy, false);
    CHECK(owed.next(true) == &busy);
    owed_acknowledgements::settle(busy);
    CHECK(owed.empty());
    // Counting starts anew.
    owed.add(busy, false);
    CHECK(owed.next(true) == nullptr);
    CHECK(owed.next(false) == &busy);
}

TEST_CASE("the next datagram to a peer takes an acknowledgement that is owed to it") {
    connections all;
    owed_acknowledgements owed;
    receiver& from = all.add();
    owed.add(from, false);
    CHECK(from.from().owed == &from);
    owed_acknowledgements::settle(from);
    CHECK(from.from().owed == nullptr);
    owed.add(from, true);
    all.remove(from);
    CHECK(owed.empty());
}
