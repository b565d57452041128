// Conformance: going to sleep, and waking up.
#include <atomic>
#include <thread>

#include "test/conformance/support/suite.hpp"

namespace conformance {

namespace {

constexpr int long_time = 60'000;  // milliseconds; this time passes only if nothing wakes

// Arms a side for sleep when it has no work left.
void put_to_sleep(side& which) {
    ucs_status_t status = which.arm();
    for (unsigned turns = 0; status == UCS_ERR_BUSY && turns < 100'000; ++turns) {
        which.progress();
        status = which.arm();
    }
    REQUIRE(status == UCS_OK);
}

// A sender, a receiver, and the messages between them, numbered from 0.
struct two_sides {
    explicit two_sides(network& net_)
        : net(net_), a(net_.at(0)), b(net_.at(1)), out(net_), to(a.connect(b)) {}

    void send() {
        REQUIRE(out.send(a, *to, uct::op::am_short, 1, make_message({1, sent}, 16)));
        ++sent;
    }
    void receive() {
        REQUIRE(net.run_until([&] { return b.inbox.size() == sent; }));
    }

    network& net;
    side& a;
    side& b;
    sender out;
    std::unique_ptr<uct::ep> to;
    std::uint32_t sent = 0;
};

struct waiting_send : uct::pending_request {
    explicit waiting_send(uct::ep& to)
        : uct::pending_request{.progress = run, .pending_hook = {}}, via(to) {}
    static ucs_status_t run(uct::pending_request& request) {
        auto& self = static_cast<waiting_send&>(request);
        const ucs_status_t status = self.via.am_short(1, 0, nullptr, 0);
        self.sent = status == UCS_OK;
        return status;
    }
    uct::ep& via;
    bool sent = false;
};

}  // namespace

CONFORMANCE_CASE(sleeper_is_woken, "a message wakes a sleeping side once",
                 needs::sleep | needs::am_short) {
    two_sides in(net);
    for (unsigned i = 0; i < 50; ++i) {
        // A timer may be due at this moment, but not for ever.
        do {
            put_to_sleep(in.b);
        } while (in.b.sleep(0));
        in.send();
        if (!net.one_side()) {
            REQUIRE(in.b.sleep(long_time));
            CHECK(in.b.arm() == UCS_ERR_BUSY);
        }
        in.receive();
    }
}

CONFORMANCE_CASE(message_keeps_awake, "a message that has arrived prevents sleep",
                 needs::sleep | needs::am_short) {
    two_sides in(net);
    in.send();
    in.receive();
    net.settle();
    const bytes second = make_message({1, in.sent++}, 16);
    REQUIRE(in.out.try_send(in.a, *in.to, uct::op::am_short, 1, second) == UCS_OK);
    if (!in.b.iface().has_work()) REQUIRE(in.b.sleep(long_time));
    CHECK(in.b.arm() == UCS_ERR_BUSY);
    in.receive();
}

CONFORMANCE_CASE(room_wakes, "room for pending sends wakes the sender",
                 needs::sleep | needs::am_short | needs::two_sides) {
    const auto to = a.connect(b);
    std::size_t sent = 0;
    const bytes payload(a.attr().max_short);
    const auto fill = [&] {
        ucs_status_t status = UCS_OK;
        while ((status = to->am_short(1, sent, payload.data(), payload.size())) == UCS_OK)
            ++sent;
        REQUIRE(status == UCS_ERR_NO_RESOURCE);
    };
    REQUIRE(net.run_until([&] { return to->am_short(1, 0, nullptr, 0) == UCS_OK; }));
    ++sent;
    REQUIRE(net.run_until([&] { return b.inbox.size() == sent; }));
    fill();
    waiting_send last(*to);
    to->pending_add(last);
    put_to_sleep(a);
    // Devices make room by themselves; then the send was completed before.
    while (!last.sent && !a.sleep(0)) {
        if (b.progress() > 0) continue;
        REQUIRE(b.inbox.size() <= sent);
        // Everything is accepted; an event of a socket may take a moment.
        if (b.inbox.size() == sent) REQUIRE(a.sleep(long_time));
    }
    REQUIRE(net.run_until([&] { return last.sent && b.inbox.size() == sent + 1; }));
}

CONFORMANCE_CASE(end_wakes, "the end of a peer wakes its senders",
                 needs::sleep | needs::am_short | needs::two_sides) {
    two_sides in(net);
    in.send();
    in.receive();
    net.settle();
    put_to_sleep(in.a);
    in.b.close();
    REQUIRE(in.a.sleep(long_time));
    REQUIRE(net.run_until([&] { return in.a.failures.size() == 1; }));
    put_to_sleep(in.a);
}

CONFORMANCE_CASE(no_call_is_missed, "two sides that sleep whenever they can miss no message",
                 needs::sleep | needs::am_short | needs::two_sides) {
    constexpr std::uint32_t rounds = 2000;
    side* sides[] = {&a, &b};
    const std::unique_ptr<uct::ep> to[] = {sides[0]->connect(*sides[1]),
                                           sides[1]->connect(*sides[0])};
    std::atomic<bool> lost{false};
    std::atomic<unsigned> done{0};
    // Each message gets a reply; the first side begins. Sends that find no room wait for the next
    // turn.
    const auto run = [&](std::size_t me) {
        side& own_side = *sides[me];
        std::uint32_t sent = 0;
        const auto over = [&] { return sent == rounds && own_side.inbox.size() == rounds; };
        while (!lost && !over()) {
            const bool may_send = sent < rounds && own_side.inbox.size() + (me == 0 ? 1 : 0) > sent;
            if (may_send) {
                const ucs_status_t status = to[me]->am_short(1, sent, nullptr, 0);
                if (status == UCS_OK) ++sent;
            }
            if (own_side.progress() > 0 || over()) continue;
            if (may_send && sent < own_side.inbox.size() + (me == 0 ? 1 : 0)) continue;
            if (own_side.arm() == UCS_OK && !own_side.sleep(long_time)) lost = true;
        }
        // A lost message is repeated by its sender.
        ++done;
        while (!lost && done < 2)
            own_side.progress();
        return sent;
    };
    std::uint32_t sent_there = 0;
    std::thread there([&] { sent_there = run(1); });
    const std::uint32_t sent_here = run(0);
    there.join();
    CHECK_FALSE(lost);
    CHECK(sent_here == rounds);
    CHECK(sent_there == rounds);
}

}  // namespace conformance
