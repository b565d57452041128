// Tests of the handshake of client and server: two state machines on a simulated socket.
#include "ucp/cm/handshake.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <utility>

using namespace ucp::cm;

namespace {

constexpr std::array all_phases{
    phase::connecting,       phase::proving, phase::requested, phase::unproven,
    phase::awaiting_request, phase::offered, phase::accepted,  phase::over};
constexpr std::array all_events{event::connected, event::agreed,      event::request,
                                event::refusal,   event::established, event::malformed,
                                event::end,       event::deadline,    event::accept,
                                event::reject,    event::ready,       event::cancel};

// One end of the simulated socket, the results of its actions, and the state of its endpoint.
struct side {
    phase now;
    std::deque<event> inbox{};
    bool open = true;
    bool failed = false;
    bool offered = false;
    bool has_key = false;
    bool was_challenged = false;  // the client has begun the key handshake; no reply yet
    std::string story{};
};

void close(side& self, side& other) {
    if (self.open) other.inbox.push_back(event::end);
    self.open = false;
}

void apply(side& self, side& other, event input) {
    const transition taken = step(self.now, input);
    self.story += std::string(name(self.now)) + " on " + name(input) + "; ";
    self.now = taken.next;
    switch (taken.todo) {
        case action::none:
            break;
        case action::open:
            if (!self.has_key) return apply(self, other, event::agreed);
            other.was_challenged = true;
            break;
        case action::send_request:
            if (self.has_key) other.inbox.push_back(event::agreed);
            other.inbox.push_back(event::request);
            break;
        case action::offer:
            self.offered = true;
            break;
        case action::send_established:
            other.inbox.push_back(event::established);
            close(self, other);
            break;
        case action::refuse:
            other.inbox.push_back(event::refusal);
            close(self, other);
            break;
        case action::fail:
            self.failed = true;
            [[fallthrough]];
        case action::drop:
            close(self, other);
            break;
    }
}

}  // namespace

TEST_CASE("the table is total, and the phase `over` is final", "[cm]") {
    for (const phase from : all_phases) {
        for (const event input : all_events) {
            const transition taken = step(from, input);
            INFO(name(from) << " on " << name(input));
            if (from == phase::over) {
                CHECK(taken.next == phase::over);
                CHECK(taken.todo == action::none);
            }
            // `ends`: the action closes the socket. Exactly these actions lead to the phase `over`.
            const bool ends = taken.todo != action::none && taken.todo != action::open &&
                              taken.todo != action::send_request && taken.todo != action::offer;
            if (from != phase::over) CHECK(ends == (taken.next == phase::over));
        }
    }
}

TEST_CASE("no unexpected input of the other side is ignored", "[cm]") {
    for (const phase from : all_phases) {
        if (from == phase::over) continue;
        for (const event input :
             {event::refusal, event::established, event::malformed, event::end}) {
            INFO(name(from) << " on " << name(input));
            CHECK(step(from, input).next == phase::over);
        }
    }
}

TEST_CASE("nothing is requested or offered before the job key is proven", "[cm]") {
    CHECK(step(phase::connecting, event::connected).todo == action::open);
    for (const event input : all_events) {
        INFO(name(input));
        if (input == event::agreed) continue;
        for (const phase from : {phase::connecting, phase::proving, phase::unproven}) {
            const action todo = step(from, input).todo;
            CHECK(todo != action::send_request);
            CHECK(todo != action::offer);
        }
    }
}

TEST_CASE("client and server reach consistent ends in any order of events", "[cm]") {
    unsigned connected = 0, kept_out = 0;
    for (unsigned seed = 0; seed < 5000; ++seed) {
        std::mt19937 random(seed);
        const bool has_key = random() % 2 == 0;
        const bool keys_fit = random() % 4 != 0;
        side client{.now = phase::connecting, .has_key = has_key};
        side server{.now = has_key ? phase::unproven : phase::awaiting_request, .has_key = has_key};
        const auto answer_challenge = [&] {
            if (!server.open || !std::exchange(server.was_challenged, false)) return;
            client.inbox.push_back(keys_fit ? event::agreed : event::malformed);
        };
        // Messages over the lanes connect the endpoints: the server sends its bind, then the
        // client's endpoint becomes ready, then the server's.
        bool bind_sent = false, client_ready = false, server_ready = false;
        bool client_gone = false, server_gone = false;
        const bool rejects = random() % 4 == 0;
        const unsigned client_ends = random() % 3 == 0 ? static_cast<unsigned>(random() % 30) : ~0U;
        const unsigned server_ends = random() % 3 == 0 ? static_cast<unsigned>(random() % 30) : ~0U;
        apply(client, server, event::connected);
        for (unsigned turn = 0; turn < 60; ++turn) {
            if (turn == client_ends && !client_ready) {
                apply(client, server, event::cancel);
                client_gone = true;
            }
            if (turn == server_ends && !server_ready) {
                apply(server, client, event::cancel);
                server_gone = true;
            }
            switch (random() % 6) {
                case 0:
                case 1: {
                    side& self = random() % 2 == 0 ? client : server;
                    side& other = &self == &client ? server : client;
                    if (!self.open || self.inbox.empty()) break;
                    // The server does not read the socket while its program decides on the request.
                    if (self.now == phase::offered) break;
                    const event next = self.inbox.front();
                    self.inbox.pop_front();
                    apply(self, other, next);
                    break;
                }
                case 2:
                    if (server.now != phase::offered) break;
                    apply(server, client, rejects ? event::reject : event::accept);
                    bind_sent = server.now == phase::accepted;
                    break;
                case 3:
                    if (!bind_sent || client_gone || client.failed || client_ready) break;
                    client_ready = true;
                    apply(client, server, event::ready);
                    break;
                case 4:
                    if (!client_ready || server_ready || server.failed || server_gone) break;
                    server_ready = true;
                    apply(server, client, event::ready);
                    break;
                default:
                    answer_challenge();
                    break;
            }
        }
        // Process all remaining events.
        for (unsigned i = 0; i < 10; ++i) {
            answer_challenge();
            for (side* self : {&client, &server}) {
                side& other = self == &client ? server : client;
                if (self->now == phase::offered) {
                    apply(*self, other, rejects ? event::reject : event::accept);
                    bind_sent = bind_sent || self->now == phase::accepted;
                }
                while (self->open && !self->inbox.empty()) {
                    const event next = self->inbox.front();
                    self->inbox.pop_front();
                    apply(*self, other, next);
                }
            }
            if (bind_sent && !client_gone && !client.failed && !client_ready) {
                client_ready = true;
                apply(client, server, event::ready);
            }
            if (client_ready && !server_ready && !server.failed && !server_gone) {
                server_ready = true;
                apply(server, client, event::ready);
            }
        }
        INFO("seed " << seed << ", client: " << client.story << " server: " << server.story);
        CHECK(client.now == phase::over);
        CHECK(server.now == phase::over);
        // No side is left waiting, and no connected side fails.
        CHECK((client_ready || client.failed || client_gone));
        if (server.offered && !rejects) {
            CHECK((server_ready || server.failed || server_gone));
        }
        CHECK_FALSE((client_ready && client.failed));
        CHECK_FALSE((server_ready && server.failed));
        if (client_ready && server_ready) ++connected;
        if (!has_key || keys_fit) continue;
        CHECK_FALSE(client_ready);
        CHECK_FALSE(server.offered);
        if (client.failed) ++kept_out;
    }
    CHECK(connected > 500);
    CHECK(kept_out > 100);
}
