// Tests of the state machine of paired lanes.
#include "ucp/wireup/pairing_state.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <set>

using namespace ucp::wireup;

namespace {

using S = pairing_state;
using E = pairing_event;
using A = pairing_action;

constexpr S all_states[] = {S::none,   S::requested, S::replied,
                            S::joined, S::postponed, S::refusing};
constexpr unsigned last_event = static_cast<unsigned>(E::close);

// A message between the two sides and its attempt.
enum class kind : std::uint8_t { request, reply, joined, unpaired };
using message = std::pair<kind, unsigned>;

// One side as the table sees it: the lanes themselves always work.
struct side {
    S state = S::none;
    unsigned attempt = 0;
    unsigned postponed = 0;
    bool has_begun = false;
    std::deque<message> bootstrap;  // messages to the other side, in order
    std::deque<message> paired;
    auto operator<=>(const side&) const = default;
};

struct both_sides {
    std::array<side, 2> sides;  // the first one has the smaller uid
    std::size_t gives_up = 2;   // the index of a side that stops at any time; 2: none
    auto operator<=>(const both_sides&) const = default;

    void handle(std::size_t index, E input, unsigned attempt = 0) {
        side& self = sides[index];
        const pairing_transition taken = step(self.state, input);
        self.state = taken.next;
        const auto send = [&self](kind type, unsigned of_attempt) {
            self.bootstrap.emplace_back(type, of_attempt);
        };
        switch (taken.todo) {
            case A::send_request:
                if (self.attempt == 0) self.attempt = static_cast<unsigned>(index) + 1;
                return send(kind::request, self.attempt);
            case A::accept_and_revoke:
            case A::accept: {
                const unsigned revoked = std::exchange(self.attempt, attempt);
                handle(index, E::close);
                handle(index, E::accepting);
                send(kind::reply, attempt);
                if (taken.todo == A::accept_and_revoke) send(kind::unpaired, revoked);
                return;
            }
            case A::send_reply:
                return send(kind::reply, self.attempt);
            case A::postpone:
                self.postponed = attempt;
                return;
            case A::refuse:
                return send(kind::unpaired, attempt);
            case A::notify:
            case A::notify_joined:
                return send(kind::unpaired, self.attempt);
            case A::connect_lanes:
                return handle(index, E::lanes_connected, attempt);
            case A::confirm:
                self.paired.emplace_back(kind::joined, attempt);
                return;
            case A::lose_lanes:
            case A::leave:
                return handle(index, E::close);
            default:
                return;
        }
    }
    [[nodiscard]] E event_of(std::size_t index, const message& got) const {
        const side& self = sides[index];
        const bool ours = self.state != S::none && self.attempt == got.second;
        switch (got.first) {
            case kind::request:
                return ours ? E::request_repeated : index == 0 ? E::request_loses : E::request;
            case kind::reply:
                return ours ? E::reply : E::foreign_reply;
            case kind::joined:
                return ours ? E::joined : E::probe;  // of another attempt: it changes nothing
            default:
                if (self.state == S::postponed && self.postponed == got.second)
                    return E::postponed_over;
                return ours ? E::unpaired : E::other_attempt_over;
        }
    }
};

// Takes every next step in turn; each reachable situation is visited once. Returns the number of
// ends.
std::size_t walk(const both_sides& from, std::set<both_sides>& seen) {
    if (!seen.insert(from).second) return 0;
    std::size_t ends = 0;
    bool is_end = true;
    const auto go = [&](const auto& change) {
        both_sides next = from;
        change(next);
        is_end = false;
        ends += walk(next, seen);
    };
    for (std::size_t i = 0; i < 2; ++i) {
        if (!from.sides[i].has_begun && from.sides[i].state == S::none &&
            from.sides[i].attempt == 0)
            go([i](both_sides& next) {
                next.sides[i].has_begun = true;
                next.handle(i, E::begin);
            });
        for (const auto queue : {&side::bootstrap, &side::paired}) {
            if ((from.sides[i].*queue).empty()) continue;
            go([i, queue](both_sides& next) {
                const message got = (next.sides[i].*queue).front();
                (next.sides[i].*queue).pop_front();
                next.handle(1 - i, next.event_of(1 - i, got), got.second);
            });
        }
    }
    if (const std::size_t i = from.gives_up; i < 2) {
        const S state = from.sides[i].state;
        if (state != S::none && state != S::refusing)
            go([i](both_sides& next) { next.handle(i, E::destroy); });
    }
    if (!is_end) return ends;
    INFO(name(from.sides[0].state) << " and " << name(from.sides[1].state));
    REQUIRE(is_joined(from.sides[0].state) == is_joined(from.sides[1].state));
    REQUIRE(is_joined(from.sides[0].state) == (from.gives_up == 2));
    REQUIRE((from.gives_up < 2 || from.sides[0].attempt == from.sides[1].attempt));
    return 1;
}

}  // namespace

TEST_CASE("pairing: every state and event has a transition") {
    std::set<std::string> names;
    for (const S from : all_states) {
        REQUIRE(names.insert(name(from)).second);
        for (unsigned input = 0; input <= last_event; ++input) {
            const pairing_transition taken = step(from, static_cast<E>(input));
            INFO(name(from) << " on event " << input);
            REQUIRE(static_cast<unsigned>(taken.next) <= static_cast<unsigned>(S::refusing));
            REQUIRE(static_cast<unsigned>(taken.todo) <=
                    static_cast<unsigned>(A::notify_and_give_up));
            const bool is_message = taken.todo >= A::deliver && taken.todo <= A::drop_and_check;
            if (is_message) REQUIRE(taken.next == from);
            const bool needs_pair = taken.todo == A::confirm || taken.todo == A::join;
            if (needs_pair) REQUIRE(is_joined(taken.next));
        }
        REQUIRE(step(from, E::close).next == S::none);
    }
}

TEST_CASE("pairing: a connection message is handled over the lanes in use only") {
    for (const S from : all_states) {
        const bool in_pairs = from != S::none && from != S::refusing;
        CHECK(step(from, E::over_pair).todo == (is_joined(from) ? A::deliver : A::none));
        CHECK((step(from, E::over_others).todo == A::deliver) == !in_pairs);
    }
}

TEST_CASE("pairing: both sides join the same lanes in every order of messages") {
    std::set<both_sides> seen;
    REQUIRE(walk({}, seen) > 1);
}

TEST_CASE("pairing: no side keeps lanes that the other one has given up") {
    for (const std::size_t index : {0U, 1U}) {
        both_sides start;
        start.gives_up = index;
        std::set<both_sides> seen;
        REQUIRE(walk(start, seen) > 1);
    }
}
