// ud_verbs on networks that are as bad as only its settings make them, and what it shares among
// endpoints. What holds for every transport is in the conformance suite.
#include <unistd.h>

#include <algorithm>

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

unsigned long number_in(side& of, std::string_view path) {
    return std::stoul(shown(of.iface(), path));
}

// One of so many has parts.
bytes message_of(tag who) {
    return make_message(who, who.number % 8 == 0 ? 1000 : 16);
}

void check_all(const side& at, std::uint32_t stream, std::uint32_t count) {
    CHECK(in_order(at, stream, count));
    for (const received& each : at.inbox) {
        const bool whole = each.data == message_of(tag_of(each.data));
        CHECK(whole);
    }
}

}  // namespace

TEST_CASE("nothing is lost nor delivered twice where the network is bad and receivers forget") {
    ud_verbs where({{"UD_VERBS_PATH_MTU", "256"},
                    {"UD_VERBS_MIN_RTO", "1ms"},
                    {"UD_VERBS_MAX_RTO", "100ms"},
                    {"UD_VERBS_TEST_DROP", "0.1"},
                    {"UD_VERBS_TEST_DUPLICATE", "0.1"},
                    {"UD_VERBS_TEST_REORDER", "0.1"},
                    {"UD_VERBS_TEST_FORGET", "0.5"}});
    network net(where);
    side& a = net.at(0);
    side& b = net.at(1);
    sender out(net);
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    constexpr std::uint32_t rounds = 100, of_each = 10, count = rounds * of_each;
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(out.send(a, *there, uct::op::am_bcopy, 1, message_of({1, i})));
        REQUIRE(out.send(b, *back, uct::op::am_bcopy, 1, message_of({2, i})));
        if ((i + 1) % of_each != 0) continue;
        flush(net, *there);
        flush(net, *back);
        // With this question the receiver may forget: nothing is under way that it has delivered.
        there->check();
        back->check();
    }
    REQUIRE(net.run_until([&] { return a.inbox.size() >= count && b.inbox.size() >= count; }));
    net.settle();
    check_all(b, 1, count);
    check_all(a, 2, count);
    CHECK((a.failures.empty() && b.failures.empty()));
    for (side* each : {&a, &b}) {
        CHECK(number_in(*each, "resyncs") > 0);
        CHECK(number_in(*each, "unknown") > 0);
        CHECK(number_in(*each, "retransmissions") > 0);
        CHECK(number_in(*each, "received_again") > 0);
        CHECK(number_in(*each, "received_early") > 0);
        CHECK(number_in(*each, "malformed") == 0);
    }
}

TEST_CASE("all endpoints to one port share its address handle") {
    ud_verbs where;
    network net(where);
    side& a = net.at(0);
    sender out(net);
    CHECK(shown(a.iface(), "address_handles") == "0");
    std::vector<std::unique_ptr<uct::ep>> eps;
    for (std::uint32_t i = 0; i < 10; ++i) {
        side& to = net.at(1 + i % 2);  // two interfaces
        eps.push_back(a.connect(to));
        REQUIRE(out.send(a, *eps.back(), uct::op::am_short, 1, make_message({i, 0}, 16)));
        REQUIRE(net.run_until([&] { return to.count(i) == 1; }));
    }
    CHECK(shown(a.iface(), "connections_out") == "10");
    CHECK(shown(a.iface(), "address_handles") == "1");
    CHECK(shown(net.at(1).iface(), "connections_in") == "5");
    CHECK(shown(net.at(1).iface(), "address_handles") == "1");
}

TEST_CASE("a goodbye behind many datagrams counts more than the silence before it") {
    ud_verbs where({{"UD_VERBS_TIMEOUT", "2s"},
                    {"UD_VERBS_MIN_RTO", "1ms"},
                    {"UD_VERBS_MAX_RTO", "10ms"},
                    {"UD_VERBS_RX_BUFS_FIRST", "1024"}});
    const test::log_capture log;
    network net(where);
    side& a = net.at(0);
    side& b = net.at(1);
    side& others = net.at(2);
    sender out(net);
    const auto via = a.connect(b);
    REQUIRE(out.send(a, *via, uct::op::am_short, 1, make_message({1, 0}, 16)));
    std::vector<std::unique_ptr<uct::ep>> crowd;
    for (std::uint32_t i = 0; i < 64; ++i) {
        crowd.push_back(others.connect(a));
        REQUIRE(out.send(others, *crowd.back(), uct::op::am_short, 1, make_message({2, i}, 16)));
    }
    REQUIRE(net.run_until([&] { return a.count(2) == 64 && b.count(1) == 1; }));
    net.settle();
    // The peer leaves a message unanswered for many timers, but not for as long as the limit.
    REQUIRE(out.try_send(a, *via, uct::op::am_short, 1, make_message({1, 1}, 16)) == UCS_OK);
    const ucs::time::nanoseconds end = ucs::time::now() + ucs::time::second / 2;
    while (ucs::time::now() < end)
        a.progress();
    REQUIRE(a.failures.empty());
    // More than progress reads before it looks at the time.
    std::uint32_t sent = 64;
    for (int round = 0; round < 8; ++round) {
        for (const auto& each : crowd) {
            const bytes message = make_message({2, sent}, 16);
            if (out.try_send(others, *each, uct::op::am_short, 1, message) == UCS_OK) ++sent;
        }
    }
    REQUIRE(sent >= 64 + 200);
    ::sleep(1);
    b.close();
    ::sleep(2);
    CHECK(only_failure(a).status == UCS_ERR_NOT_CONNECTED);
    CHECK(a.count(2) == sent);
}

TEST_CASE("a datagram that claims the address of another port makes no address handle") {
    using kind = uct::ud::wire::kind;
    ud_verbs where;
    test::log_capture log;
    network net(where);
    side& a = net.at(0);
    datagram_forger forger(a.address());
    // An address of the subnet that nobody has: a device would look for a neighbor.
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
    // The same queue pair is heard when it says the truth.
    forger.send(kind::request, forger.own_hello(2));
    CHECK(net.run_until([&] { return number_in(a, "connections_in") == 1; }));
    forger.send(kind::goodbye, forger.own_hello(2));
    CHECK(net.run_until([&] { return number_in(a, "connections_in") == 0; }));
    CHECK(number_in(a, "malformed") >= 3);
}

TEST_CASE("a cut-off sender that asks again is told of its end and displaces nobody") {
    using kind = uct::ud::wire::kind;
    ud_verbs where;
    network net(where);
    side& a = net.at(0);
    sender out(net);
    datagram_forger forger(a.address());
    const auto other = net.at(1).connect(a);
    REQUIRE(out.send(net.at(1), *other, uct::op::am_short, 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return a.count(1) == 1; }));
    const std::uint64_t kept = a.inbox.front().connection;
    // All that one source may have, so that a newcomer of it displaces another one.
    constexpr std::uint64_t most = 1024;
    std::uint64_t asked = 0;
    for (; asked < most; ++asked) {
        forger.send(kind::request, forger.own_hello(asked + 1));
        a.progress();
    }
    REQUIRE(net.run_until([&] { return number_in(a, "connections_in") == 1 + most; }));
    CHECK(number_in(a, "displaced") == 0);
    const auto cut_off = [&] {
        std::vector<std::uint64_t> all;
        a.iface().append_connections(all);
        return *std::ranges::find_if(all, [&](std::uint64_t each) { return each != kept; });
    };
    REQUIRE(a.iface().end_connection(cut_off(), UCS_ERR_EXCEEDS_LIMIT));
    CHECK(number_in(a, "connections_in") == most);
    // Fill its place, and ask in its name again.
    forger.send(kind::request, forger.own_hello(++asked));
    REQUIRE(net.run_until([&] { return number_in(a, "connections_in") == 1 + most; }));
    const unsigned long before = number_in(a, "datagrams_received");
    const unsigned long sent = number_in(a, "datagrams_sent");
    for (std::uint64_t each = 1; each <= most; ++each) {
        forger.send(kind::request, forger.own_hello(each));
        a.progress();
    }
    REQUIRE(net.run_until([&] { return number_in(a, "datagrams_received") >= before + most; }));
    // Each of them is answered, the cut-off one as well.
    CHECK(number_in(a, "datagrams_sent") == sent + most);
    CHECK(number_in(a, "displaced") == 0);
    CHECK(number_in(a, "connections_in") == 1 + most);
}
