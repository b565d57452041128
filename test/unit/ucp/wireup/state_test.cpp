// Tests of the connection's state machine.
#include "ucp/wireup/state.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace ucp::wireup;

namespace {

constexpr state all_states[] = {state::idle,        state::requested, state::ready,
                                state::peer_closed, state::abandoned, state::closing,
                                state::failed,      state::closed};
constexpr event all_events[] = {event::use,         event::request,     event::reply,
                                event::peer_close,  event::local_close, event::failure,
                                event::peer_failure};

bool is(transition got, state next, action todo) {
    return got.next == next && got.todo == todo;
}

}  // namespace

TEST_CASE("Every state and event has a name and a transition") {
    std::set<std::string> names;
    for (const state from : all_states) {
        REQUIRE(names.insert(name(from)).second);
        for (const event input : all_events) {
            const transition taken = step(from, input);
            INFO(name(from) << " on " << name(input));
            REQUIRE(static_cast<unsigned>(taken.next) <= static_cast<unsigned>(state::closed));
            REQUIRE(static_cast<unsigned>(taken.todo) <= static_cast<unsigned>(action::unexpected));
            // An unexpected event changes nothing.
            if (taken.todo == action::unexpected) REQUIRE(taken.next == from);
        }
    }
    for (const event input : all_events)
        REQUIRE(std::strlen(name(input)) > 0);
}

TEST_CASE("A requested connection becomes ready once, by request or by reply") {
    REQUIRE(is(step(state::idle, event::use), state::requested, action::send_request));
    REQUIRE(is(step(state::requested, event::use), state::requested, action::none));
    REQUIRE(is(step(state::requested, event::reply), state::ready, action::become_ready));
    REQUIRE(
        is(step(state::requested, event::request), state::ready, action::become_ready_and_reply));
    REQUIRE(is(step(state::ready, event::reply), state::ready, action::none));
    REQUIRE(is(step(state::ready, event::request), state::ready, action::reply));
}

TEST_CASE("A closed endpoint waits for the peer's close, in either order") {
    REQUIRE(is(step(state::ready, event::local_close), state::closing, action::send_close));
    REQUIRE(is(step(state::closing, event::peer_close), state::closed, action::none));
    REQUIRE(is(step(state::ready, event::peer_close), state::peer_closed, action::notify_user));
    REQUIRE(is(step(state::peer_closed, event::local_close), state::closed, action::send_close));
    // Closed while our request was under way: the peer is notified as soon as its endpoint is
    // known.
    REQUIRE(is(step(state::requested, event::local_close), state::abandoned, action::none));
    REQUIRE(is(step(state::abandoned, event::reply), state::closing, action::send_close));
    REQUIRE(is(step(state::abandoned, event::request), state::closing, action::reply_and_close));
}

TEST_CASE("Every open state fails, and the user is notified only in the user's states") {
    // The peer has no endpoint to these yet.
    for (const state from : {state::idle, state::requested})
        REQUIRE(is(step(from, event::failure), state::failed, action::fail));
    for (const state from : {state::ready, state::peer_closed})
        REQUIRE(is(step(from, event::failure), state::failed, action::fail_and_tell));
    // The user has closed these endpoints: only the peer has to be notified, if it waits.
    REQUIRE(is(step(state::abandoned, event::failure), state::closed, action::none));
    REQUIRE(is(step(state::closing, event::failure), state::closed, action::notify_failure));
}

TEST_CASE("A peer whose endpoint failed is not notified of the same") {
    for (const state from : {state::requested, state::ready, state::peer_closed})
        REQUIRE(is(step(from, event::peer_failure), state::failed, action::fail));
    for (const state from : {state::abandoned, state::closing})
        REQUIRE(is(step(from, event::peer_failure), state::closed, action::none));
    REQUIRE(is(step(state::idle, event::peer_failure), state::idle, action::unexpected));
}

TEST_CASE("Every state reaches closed by a local close and a failure") {
    for (const state from : all_states) {
        INFO(name(from));
        REQUIRE(step(step(from, event::local_close).next, event::failure).next == state::closed);
    }
}

TEST_CASE("Nothing leaves closed") {
    for (const event input : all_events)
        REQUIRE(is(step(state::closed, input), state::closed, action::none));
}
