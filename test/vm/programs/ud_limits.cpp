// ud_verbs on networks whose faults only its settings can produce, and its sharing of resources
// among endpoints. The conformance suite tests what all transports have in common.
#include <unistd.h>

#include "test/support/log_capture.hpp"
#include "test/vm/programs/datagram_forger.hpp"
#include "test/vm/programs/limits.hpp"

using namespace conformance;

namespace {

class ud_verbs final : public on_device {
public:
    explicit ud_verbs(std::initializer_list<setting> settings = {})
        : on_device("ud_verbs", {"UD_VERBS_LINGER", "20ms"}, settings) {}
};

// One of this many messages has fragments.
bytes message_of(tag id) {
    return make_message(id, id.number % 8 == 0 ? 1000 : 16);
}

void check_all(const side& receiver, std::uint32_t stream, std::uint32_t count) {
    CHECK(in_order(receiver, stream, count));
    for (const received& each : receiver.inbox) {
        const bool complete = each.data == message_of(tag_of(each.data));
        CHECK(complete);
    }
}

}  // namespace

TEST_CASE("nothing is lost or delivered twice on a bad network with receivers that forget") {
    two_sides<ud_verbs> in({{"UD_VERBS_PATH_MTU", "256"},
                            {"UD_VERBS_MIN_RTO", "1ms"},
                            {"UD_VERBS_MAX_RTO", "100ms"},
                            {"UD_VERBS_TEST_DROP", "0.1"},
                            {"UD_VERBS_TEST_DUPLICATE", "0.1"},
                            {"UD_VERBS_TEST_REORDER", "0.1"},
                            {"UD_VERBS_TEST_FORGET", "0.5"}});
    const auto remote = in.a.connect(in.b);
    const auto back = in.b.connect(in.a);
    constexpr std::uint32_t rounds = 100, of_each = 10, count = rounds * of_each;
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(in.out.send(in.a, *remote, uct::op::am_bcopy, 1, message_of({1, i})));
        REQUIRE(in.out.send(in.b, *back, uct::op::am_bcopy, 1, message_of({2, i})));
        if ((i + 1) % of_each != 0) continue;
        flush(in.net, *remote);
        flush(in.net, *back);
        // After this request the receiver may forget the sender: no packet that it has delivered is
        // still in flight.
        remote->check();
        back->check();
    }
    REQUIRE(
        in.net.run_until([&] { return in.a.inbox.size() >= count && in.b.inbox.size() >= count; }));
    in.net.settle();
    check_all(in.b, 1, count);
    check_all(in.a, 2, count);
    CHECK((in.a.failures.empty() && in.b.failures.empty()));
    for (side* each : {&in.a, &in.b}) {
        CHECK(number_in(*each, "resyncs") > 0);
        CHECK(number_in(*each, "unknown") > 0);
        CHECK(number_in(*each, "retransmissions") > 0);
        CHECK(number_in(*each, "received_again") > 0);
        CHECK(number_in(*each, "received_early") > 0);
        CHECK(number_in(*each, "malformed") == 0);
    }
}

TEST_CASE("all endpoints to one port share its address handle") {
    two_sides<ud_verbs> in;
    CHECK(vfs_text(in.a.iface(), "address_handles") == "0");
    std::vector<std::unique_ptr<uct::ep>> eps;
    for (std::uint32_t i = 0; i < 10; ++i) {
        side& to = in.net.at(1 + i % 2);  // two interfaces
        eps.push_back(in.a.connect(to));
        in.check_message(*eps.back(), to, i);
    }
    CHECK(vfs_text(in.a.iface(), "connections_out") == "10");
    CHECK(vfs_text(in.a.iface(), "address_handles") == "1");
    CHECK(vfs_text(in.net.at(1).iface(), "connections_in") == "5");
    CHECK(vfs_text(in.net.at(1).iface(), "address_handles") == "1");
}

TEST_CASE("a goodbye behind many datagrams counts more than the silence before it") {
    const test::log_capture log;
    two_sides<ud_verbs> in({{"UD_VERBS_TIMEOUT", "2s"},
                            {"UD_VERBS_MIN_RTO", "1ms"},
                            {"UD_VERBS_MAX_RTO", "10ms"},
                            {"UD_VERBS_RX_BUFS_FIRST", "1024"}});
    side& third = in.net.at(2);
    const auto via = in.a.connect(in.b);
    REQUIRE(in.send_short(*via, {1, 0}));
    std::vector<std::unique_ptr<uct::ep>> endpoints;
    for (std::uint32_t i = 0; i < 64; ++i) {
        endpoints.push_back(third.connect(in.a));
        REQUIRE(
            in.out.send(third, *endpoints.back(), uct::op::am_short, 1, make_message({2, i}, 16)));
    }
    REQUIRE(in.net.run_until([&] { return in.a.count(2) == 64 && in.b.count(1) == 1; }));
    in.net.settle();
    // The peer does not acknowledge a message for many timeouts, but for less than the limit.
    REQUIRE(in.try_short(*via, {1, 1}) == UCS_OK);
    const ucs::time::nanoseconds end = ucs::time::now() + ucs::time::second / 2;
    while (ucs::time::now() < end)
        in.a.progress();
    REQUIRE(in.a.failures.empty());
    // More than progress reads before it checks the time.
    std::uint32_t sent = 64;
    for (int round = 0; round < 8; ++round) {
        for (const auto& each : endpoints) {
            const bytes message = make_message({2, sent}, 16);
            if (in.out.try_send(third, *each, uct::op::am_short, 1, message) == UCS_OK) ++sent;
        }
    }
    REQUIRE(sent >= 64 + 200);
    ::sleep(1);
    in.b.close();
    ::sleep(2);
    CHECK(only_failure(in.a).status == UCS_ERR_NOT_CONNECTED);
    CHECK(in.a.count(2) == sent);
}

TEST_CASE("a datagram that claims the address of another port makes no address handle") {
    using kind = uct::ud::wire::kind;
    ud_verbs where;
    test::log_capture log;
    network net(where);
    side& a = net.at(0);
    datagram_forger forger(a.address());
    // An unused address of the subnet: a device would resolve a neighbor.
    uct::ud::wire::hello forged = forger.own_hello(1);
    forged.from.port.gid.back() = 250;
    for (const kind each : {kind::request, kind::resync, kind::goodbye}) {
        const std::size_t before = log.count("is not where it comes from");
        forger.send(each, forged);
        CHECK(net.run_until([&] { return log.count("is not where it comes from") > before; }));
    }
    CHECK(number_in(a, "malformed") >= 3);
    CHECK(number_in(a, "address_handles") == 0);
    CHECK(number_in(a, "connections_in") == 0);
    // The same queue pair is accepted if its data is correct.
    forger.send(kind::request, forger.own_hello(2));
    CHECK(net.run_until([&] { return number_in(a, "connections_in") == 1; }));
    forger.send(kind::goodbye, forger.own_hello(2));
    CHECK(net.run_until([&] { return number_in(a, "connections_in") == 0; }));
    CHECK(number_in(a, "malformed") >= 3);
}

TEST_CASE(
    "a cut-off sender that sends another request is told of its end and displaces no other "
    "sender") {
    using kind = uct::ud::wire::kind;
    two_sides<ud_verbs> in;
    datagram_forger forger(in.a.address());
    const auto other = in.net.at(1).connect(in.a);
    REQUIRE(in.out.send(in.net.at(1), *other, uct::op::am_short, 1, make_message({1, 0}, 16)));
    REQUIRE(in.net.run_until([&] { return in.a.count(1) == 1; }));
    const std::uint64_t kept = in.a.inbox.front().connection;
    // The limit for one source, so that a new connection of it displaces another one.
    constexpr std::uint64_t most = 1024;
    std::uint64_t asked = 0;
    for (; asked < most; ++asked) {
        forger.send(kind::request, forger.own_hello(asked + 1));
        in.a.progress();
    }
    REQUIRE(in.net.run_until([&] { return number_in(in.a, "connections_in") == 1 + most; }));
    CHECK(number_in(in.a, "displaced") == 0);
    const auto cut_off = [&] {
        std::vector<std::uint64_t> all;
        in.a.iface().append_connections(all);
        return *std::ranges::find_if(all, [&](std::uint64_t each) { return each != kept; });
    };
    REQUIRE(in.a.iface().end_connection(cut_off(), UCS_ERR_EXCEEDS_LIMIT));
    CHECK(number_in(in.a, "connections_in") == most);
    // Takes its slot, and sends requests in its name again.
    forger.send(kind::request, forger.own_hello(++asked));
    REQUIRE(in.net.run_until([&] { return number_in(in.a, "connections_in") == 1 + most; }));
    const unsigned long before = number_in(in.a, "datagrams_received");
    const unsigned long sent = number_in(in.a, "datagrams_sent");
    for (std::uint64_t each = 1; each <= most; ++each) {
        forger.send(kind::request, forger.own_hello(each));
        in.a.progress();
    }
    REQUIRE(
        in.net.run_until([&] { return number_in(in.a, "datagrams_received") >= before + most; }));
    // Each of them gets a reply, also the one that was cut off.
    CHECK(number_in(in.a, "datagrams_sent") == sent + most);
    CHECK(number_in(in.a, "displaced") == 0);
    CHECK(number_in(in.a, "connections_in") == 1 + most);
}
