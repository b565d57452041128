#include "uct/tcp/connection_state.hpp"

#include <catch2/catch.hpp>

using namespace uct::tcp;

TEST_CASE("a connection is made by either side") {
    CHECK(next_state(state::idle, event::wanted) == state::connecting);
    CHECK(next_state(state::connecting, event::connected) == state::greeting);
    CHECK(next_state(state::greeting, event::welcomed) == state::established);
    for (const state from : {state::idle, state::connecting, state::greeting, state::backing_off}) {
        CHECK(next_state(from, event::accepted) == state::established);
    }
}

TEST_CASE("a connection that stands is not made again, and a failed one does nothing") {
    for (const state from : {state::established, state::parting}) {
        CHECK_FALSE(next_state(from, event::wanted));
        CHECK_FALSE(next_state(from, event::accepted));
        CHECK_FALSE(next_state(from, event::welcomed));
    }
    for (int what = 0; what <= static_cast<int>(event::broken); ++what) {
        CHECK_FALSE(next_state(state::failed, static_cast<event>(what)));
    }
}

TEST_CASE("every state but failed can break") {
    for (int from = 0; from < static_cast<int>(state::failed); ++from) {
        CHECK(next_state(static_cast<state>(from), event::broken) == state::failed);
    }
}

TEST_CASE("a connection that stands and cannot send is drained before it fails") {
    for (const state from : {state::established, state::parting}) {
        CHECK(next_state(from, event::send_failed) == state::draining);
    }
    for (const state from : {state::idle, state::connecting, state::greeting, state::backing_off,
                             state::draining, state::failed}) {
        CHECK_FALSE(next_state(from, event::send_failed));
    }
    for (const event other : {event::wanted, event::accepted, event::ask_to_part, event::parted}) {
        CHECK_FALSE(next_state(state::draining, other));
    }
}

TEST_CASE("parting is taken back or ends in a connection that can be made anew") {
    CHECK(next_state(state::established, event::ask_to_part) == state::parting);
    CHECK(next_state(state::parting, event::part_denied) == state::established);
    CHECK(next_state(state::parting, event::parted) == state::idle);
    CHECK(next_state(state::established, event::parted) == state::idle);
}
