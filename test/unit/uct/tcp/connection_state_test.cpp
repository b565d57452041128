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

TEST_CASE("an established connection is not made again, and a failed one does nothing") {
    for (const state from : {state::established, state::parting}) {
        CHECK_FALSE(next_state(from, event::wanted));
        CHECK_FALSE(next_state(from, event::accepted));
        CHECK_FALSE(next_state(from, event::welcomed));
    }
    for (int trigger = 0; trigger <= static_cast<int>(event::broken); ++trigger) {
        CHECK_FALSE(next_state(state::failed, static_cast<event>(trigger)));
    }
}

TEST_CASE("every state except failed can break") {
    for (int from = 0; from < static_cast<int>(state::failed); ++from) {
        CHECK(next_state(static_cast<state>(from), event::broken) == state::failed);
    }
}

TEST_CASE("an established connection that cannot send is drained before it fails") {
    for (const state from : {state::established, state::parting}) {
        CHECK(next_state(from, event::send_failed) == state::draining);
    }
    for (const state from : {state::idle, state::connecting, state::greeting, state::backing_off,
                             state::draining, state::failed}) {
        CHECK_FALSE(next_state(from, event::send_failed));
    }
    for (const event other :
         {event::wanted, event::accepted, event::propose_close, event::parted}) {
        CHECK_FALSE(next_state(state::draining, other));
    }
}

TEST_CASE("closing by agreement is refused, or ends in a connection that can be made again") {
    CHECK(next_state(state::established, event::propose_close) == state::parting);
    CHECK(next_state(state::parting, event::close_denied) == state::established);
    CHECK(next_state(state::parting, event::parted) == state::idle);
    CHECK(next_state(state::established, event::parted) == state::idle);
}
