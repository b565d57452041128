// The exchange of client and server as pure machines on a simulated socket.
#include "ucp/cm/exchange.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <utility>

using namespace ucp::cm;

namespace {

constexpr std::array all_phases{phase::connecting, phase::proving, phase::asked,    phase::unproven,
                                phase::greeting,   phase::offered, phase::accepted, phase::over};
constexpr std::array all_events{event::connected, event::agreed,      event::request,
                                event::refusal,   event::established, event::nonsense,
                                event::end,       event::deadline,    event::accept,
                                event::reject,    event::ready,       event::cancel};

// One end of the simulated socket, what it was told to do, and what becomes of its endpoint.
struct side {
    phase at;
    std::deque<event> inbox{};
    bool open = true;
    bool failed = false;
    bool told_program = false;
    bool has_key = false;
    bool was_challenged = false;  // by the client's first record
    std::string story{};
};

void close(side& mine, side& other) {
    if (mine.open) other.inbox.push_back(event::end);
    mine.open = false;
}

void apply(side& mine, side& other, event what) {
    const transition taken = step(mine.at, what);
    mine.story += std::string(name(mine.at)) + " on " + name(what) + "; ";
    mine.at = taken.next;
    switch (taken.todo) {
        case action::none:
            break;
        case action::open:
            if (!mine.has_key) return apply(mine, other, event::agreed);
            other.was_challenged = true;
            break;
        case action::send_request:
            if (mine.has_key) other.inbox.push_back(event::agreed);
            other.inbox.push_back(event::request);
            break;
        case action::offer:
            mine.told_program = true;
            break;
        case action::send_established:
            other.inbox.push_back(event::established);
            close(mine, other);
            break;
        case action::refuse:
            other.inbox.push_back(event::refusal);
            close(mine, other);
            break;
        case action::fail:
            mine.failed = true;
            [[fallthrough]];
        case action::drop:
            close(mine, other);
            break;
    }
}

}  // namespace

TEST_CASE("the table is total, and what is over stays over", "[cm]") {
    for (const phase from : all_phases) {
        for (const event what : all_events) {
            const transition taken = step(from, what);
            INFO(name(from) << " on " << name(what));
            if (from == phase::over) {
                CHECK(taken.next == phase::over);
                CHECK(taken.todo == action::none);
            }
            // Whatever ends the exchange closes the socket, and only that.
            const bool ends = taken.todo != action::none && taken.todo != action::open &&
                              taken.todo != action::send_request && taken.todo != action::offer;
            if (from != phase::over) CHECK(ends == (taken.next == phase::over));
        }
    }
}

TEST_CASE("nothing that the other side sends is ignored while it is waited for", "[cm]") {
    for (const phase from : all_phases) {
        if (from == phase::over) continue;
        for (const event what : {event::refusal, event::established, event::nonsense, event::end}) {
            INFO(name(from) << " on " << name(what));
            CHECK(step(from, what).next == phase::over);
        }
    }
}

TEST_CASE("nothing is asked or offered before the job key is proven", "[cm]") {
    CHECK(step(phase::connecting, event::connected).todo == action::open);
    for (const event what : all_events) {
        INFO(name(what));
        if (what == event::agreed) continue;
        for (const phase from : {phase::connecting, phase::proving, phase::unproven}) {
            const action todo = step(from, what).todo;
            CHECK(todo != action::send_request);
            CHECK(todo != action::offer);
        }
    }
}

TEST_CASE("client and server come to the same end, whatever happens when", "[cm]") {
    unsigned connected = 0, kept_out = 0;
    for (unsigned seed = 0; seed < 5000; ++seed) {
        std::mt19937 random(seed);
        const bool has_key = random() % 2 == 0;
        const bool keys_fit = random() % 4 != 0;
        side client{.at = phase::connecting, .has_key = has_key};
        side server{.at = has_key ? phase::unproven : phase::greeting, .has_key = has_key};
        const auto answer_challenge = [&] {
            if (!server.open || !std::exchange(server.was_challenged, false)) return;
            client.inbox.push_back(keys_fit ? event::agreed : event::nonsense);
        };
        // The connection itself is made by other messages, in this order.
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
                    side& mine = random() % 2 == 0 ? client : server;
                    side& other = &mine == &client ? server : client;
                    if (!mine.open || mine.inbox.empty()) break;
                    // The program's half of a request is not looked at while it decides.
                    if (mine.at == phase::offered) break;
                    const event next = mine.inbox.front();
                    mine.inbox.pop_front();
                    apply(mine, other, next);
                    break;
                }
                case 2:
                    if (server.at != phase::offered) break;
                    apply(server, client, rejects ? event::reject : event::accept);
                    bind_sent = server.at == phase::accepted;
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
        // Let everything happen that is left.
        for (unsigned i = 0; i < 10; ++i) {
            answer_challenge();
            for (side* mine : {&client, &server}) {
                side& other = mine == &client ? server : client;
                if (mine->at == phase::offered) {
                    apply(*mine, other, rejects ? event::reject : event::accept);
                    bind_sent = bind_sent || mine->at == phase::accepted;
                }
                while (mine->open && !mine->inbox.empty()) {
                    const event next = mine->inbox.front();
                    mine->inbox.pop_front();
                    apply(*mine, other, next);
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
        CHECK(client.at == phase::over);
        CHECK(server.at == phase::over);
        // Nobody is left waiting, and nobody fails who is connected.
        CHECK((client_ready || client.failed || client_gone));
        if (server.told_program && !rejects) {
            CHECK((server_ready || server.failed || server_gone));
        }
        CHECK_FALSE((client_ready && client.failed));
        CHECK_FALSE((server_ready && server.failed));
        if (client_ready && server_ready) ++connected;
        if (!has_key || keys_fit) continue;
        CHECK_FALSE(client_ready);
        CHECK_FALSE(server.told_program);
        if (client.failed) ++kept_out;
    }
    CHECK(connected > 500);
    CHECK(kept_out > 100);
}
