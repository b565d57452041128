// Conformance: peers vanish, and interfaces close in any order.

#include "test/conformance/support/suite.hpp"

namespace conformance {

namespace {

// Sends until the endpoint reports its failure. Some systems report a lost peer only to its
// senders.
bool send_until_failed(network& net, side& a, uct::ep& via, sender& out, uct::op which) {
    std::uint32_t number = 100;
    return net.run_until([&] {
        const ucs_status_t status = out.try_send(a, via, which, 1, make_message({1, number}, 16));
        if (status == UCS_OK) ++number;
        return status != UCS_OK && status != UCS_ERR_NO_RESOURCE;
    });
}

bool is_alive(side& receiver, std::uint64_t number) {
    std::vector<std::uint64_t> list;
    receiver.iface().append_connections(list);
    return std::ranges::count(list, number) == 1;
}

}  // namespace

CONFORMANCE_CASE(peer_vanishes,
                 "a vanished peer fails its endpoint: handler once, operations refuse",
                 needs::two_sides | needs::messages) {
    counted flushed;
    const auto via = a.connect(b);
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1; }));
    for (std::uint32_t i = 1; i < 30; ++i) {
        const uct::op which = ops[i % ops.size()];
        const std::size_t size = std::min<std::size_t>(lengths(a.attr(), which).max, 3000);
        static_cast<void>(out.try_send(a, *via, which, 1, make_message({1, i}, size)));
    }
    const ucs_status_t flushing = via->flush(&flushed);
    b.close();
    net.remove(1);
    REQUIRE(send_until_failed(net, a, *via, out, ops.front()));
    REQUIRE(net.run_until([&] { return !a.failures.empty() && out.all_ended(); }));
    if (flushing == UCS_INPROGRESS) REQUIRE(net.run_until([&] { return flushed.calls == 1; }));
    net.settle();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failures.front().which == via.get());
    CHECK(a.failures.front().status < 0);
    CHECK(out.each_called_once());
    for (const uct::op each : ops) {
        const ucs_status_t status = out.try_send(a, *via, each, 1, make_message({1, 999}, 16));
        CHECK(status < 0);
        CHECK(status != UCS_ERR_NO_RESOURCE);
    }
    CHECK(via->flush(nullptr) < 0);
    net.settle();
    CHECK(a.failures.size() == 1);
}

CONFORMANCE_CASE(destroyed_by_error_handler, "the error handler may destroy the failed endpoint",
                 needs::two_sides | needs::messages) {
    auto via = a.connect(b);
    auto other = a.connect(b);
    for (uct::ep* each : {via.get(), other.get()})
        REQUIRE(out.send(a, *each, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 2; }));
    a.on_failure = [&](const failure& failed) {
        (failed.which == via.get() ? via : other).reset();
    };
    net.remove(1);
    std::uint32_t number = 1;
    REQUIRE(net.run_until([&] {
        for (auto* each : {&via, &other}) {
            if (*each == nullptr) continue;
            static_cast<void>(
                out.try_send(a, **each, ops.front(), 1, make_message({1, number++}, 16)));
        }
        return via == nullptr && other == nullptr;
    }));
    CHECK(a.failures.size() == 2);
    CHECK(out.all_ended());
}

CONFORMANCE_CASE(others_unharmed, "the failure of one peer leaves endpoints to others alone",
                 needs::two_sides | needs::messages) {
    const auto lost = a.connect(b);
    const auto kept = a.connect(net.at(2));
    REQUIRE(out.send(a, *lost, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(out.send(a, *kept, ops.front(), 1, make_message({2, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1 && net.at(2).inbox.size() == 1; }));
    net.remove(1);
    REQUIRE(send_until_failed(net, a, *lost, out, ops.front()));
    for (std::uint32_t i = 1; i < 50; ++i)
        REQUIRE(out.send(a, *kept, ops[i % ops.size()], 1, make_message({2, i}, 16)));
    REQUIRE(net.run_until([&] { return net.at(2).inbox.size() == 50; }));
    net.settle();
    CHECK(a.failures.size() == 1);
}

CONFORMANCE_CASE(queued_on_failure, "waiting sends get the failure of their endpoint",
                 needs::two_sides | needs::messages | needs::am_bcopy) {
    struct waiting : uct::pending_request {
        uct::ep* via = nullptr;
        ucs_status_t finished = UCS_INPROGRESS;
    } request;
    request.progress = [](uct::pending_request& r) {
        auto& self = static_cast<waiting&>(r);
        outgoing message(uct::op::am_bcopy, 1, make_message({1, 9}, 16));
        static const uct::iface_attr unused;
        const ucs_status_t status = message.post(*self.via, unused);
        if (status != UCS_ERR_NO_RESOURCE) self.finished = status;
        return status;
    };
    const auto via = a.connect(b);
    request.via = via.get();
    REQUIRE(out.send(a, *via, uct::op::am_bcopy, 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1; }));
    const std::size_t size = std::min<std::size_t>(a.attr().max_bcopy, 4000);
    std::uint32_t sent = 1;
    constexpr std::size_t limit = std::size_t{512} << 20U;
    while (sent * size < limit &&
           out.try_send(a, *via, uct::op::am_bcopy, 1, make_message({1, sent}, size)) == UCS_OK)
        ++sent;
    REQUIRE(out.last_status() == UCS_ERR_NO_RESOURCE);
    via->pending_add(request);
    net.remove(1);
    // Either the transport retries it, which returns the error, or it still waits when the handler
    // runs and purge returns it.
    REQUIRE(net.run_until([&] { return !a.failures.empty(); }));
    if (request.finished == UCS_INPROGRESS) {
        unsigned back = 0;
        via->pending_purge([](uct::pending_request&, void* n) { ++*static_cast<unsigned*>(n); },
                           &back);
        CHECK(back == 1);
    }
    CHECK(request.finished != UCS_ERR_NO_RESOURCE);
}

CONFORMANCE_CASE(sender_closes_first, "an interface may close before and after its peers",
                 needs::two_sides | needs::messages) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
        side& left = net.at(0);  // new ones in the second turn
        side& right = net.at(1);
        auto there = left.connect(right);
        auto back = right.connect(left);
        REQUIRE(out.send(left, *there, ops.front(), 1, make_message({1, 0}, 16)));
        REQUIRE(out.send(right, *back, ops.front(), 1, make_message({2, 0}, 16)));
        REQUIRE(net.run_until([&] { return left.inbox.size() == 1 && right.inbox.size() == 1; }));
        (first == 0 ? there : back).reset();
        net.remove(first);
        net.settle();
        (first == 0 ? back : there).reset();
        net.remove(1 - first);
    }
}

CONFORMANCE_CASE(unread_at_close, "an interface may close with unread messages",
                 needs::two_sides | needs::messages) {
    const auto via = a.connect(b);
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    for (std::uint32_t i = 1; i < 10; ++i)
        static_cast<void>(out.try_send(a, *via, ops.back(), 1, make_message({1, i}, 16)));
    net.remove(1);
    net.settle();
    CHECK(a.failures.size() <= 1);
}

CONFORMANCE_CASE(connections_have_numbers, "messages of two endpoints have different connections",
                 needs::two_sides | needs::copied_messages) {
    side& to = a;
    const uct::op which = message_ops(to.attr()).front();
    std::vector<std::unique_ptr<uct::ep>> via;
    for (std::uint32_t from = 1; from <= 2; ++from) {
        via.push_back(net.at(from).connect(to));
        for (std::uint32_t i = 0; i < 3; ++i)
            REQUIRE(out.send(net.at(from), *via.back(), which, 1, make_message({from, i}, 16)));
    }
    REQUIRE(net.run_until([&] { return to.inbox.size() == 6; }));
    std::map<std::uint64_t, std::uint32_t> senders;
    for (const received& each : to.inbox) {
        CHECK(each.connection != 0);
        const std::uint32_t from = tag_of(each.data).stream;
        CHECK(senders.emplace(each.connection, from).first->second == from);
    }
    const bytes other(16);
    CHECK(to.iface().connection_of({other.data(), other.size()}) == 0);
}

CONFORMANCE_CASE(living_connections, "a connection is listed while it is alive",
                 needs::two_sides | needs::copied_messages) {
    side& to = a;
    const uct::op which = message_ops(to.attr()).front();
    std::vector<std::unique_ptr<uct::ep>> via;
    for (std::uint32_t from = 1; from <= 3; ++from) {
        via.push_back(net.at(from).connect(to));
        REQUIRE(out.send(net.at(from), *via.back(), which, 1, make_message({from, 0}, 16)));
    }
    REQUIRE(net.run_until([&] { return to.inbox.size() == 3; }));
    std::map<std::uint32_t, std::uint64_t> number_of;
    for (const received& each : to.inbox)
        number_of[tag_of(each.data).stream] = each.connection;
    for (std::uint32_t from = 1; from <= 3; ++from)
        CHECK(is_alive(to, number_of[from]));
    CHECK_FALSE(is_alive(to, 0));
    // One connection is ended by its receiver, and one by its sender.
    REQUIRE(to.iface().end_connection(number_of[1], UCS_ERR_EXCEEDS_LIMIT));
    CHECK_FALSE(is_alive(to, number_of[1]));
    via[1].reset();
    if (net.where().where().transport == "tcp") {
        // Both directions use one connection, which ends with the interface.
        net.settle();
        CHECK(is_alive(to, number_of[2]));
    } else {
        REQUIRE(net.run_until([&] { return !is_alive(to, number_of[2]); }));
    }
    net.remove(2);
    REQUIRE(net.run_until([&] { return !is_alive(to, number_of[2]); }));
    // The list is appended to, and no other connection is alive.
    std::vector<std::uint64_t> list{7};
    to.iface().append_connections(list);
    CHECK(list == std::vector<std::uint64_t>{7, number_of[3]});
}

CONFORMANCE_CASE(ended_connection,
                 "a connection that its receiver ends is over for both, and others go on",
                 needs::two_sides | needs::copied_messages) {
    side& to = a;
    side& bad = b;
    side& good = net.at(2);
    const uct::op which = message_ops(to.attr()).front();
    const auto ended = bad.connect(to);
    const auto back = to.connect(bad);
    const auto kept = good.connect(to);
    REQUIRE(out.send(bad, *ended, which, 1, make_message({1, 0}, 16)));
    REQUIRE(out.send(to, *back, which, 1, make_message({3, 0}, 16)));
    REQUIRE(out.send(good, *kept, which, 1, make_message({2, 0}, 16)));
    REQUIRE(net.run_until([&] { return to.inbox.size() == 2 && bad.inbox.size() == 1; }));
    std::uint64_t number = 0;
    for (const received& each : to.inbox)
        if (tag_of(each.data).stream == 1) number = each.connection;
    CHECK_FALSE(to.iface().end_connection(0, UCS_ERR_EXCEEDS_LIMIT));
    // These messages are in flight.
    for (std::uint32_t i = 1; i < 10; ++i)
        static_cast<void>(out.try_send(bad, *ended, which, 1, make_message({1, i}, 16)));
    REQUIRE(to.iface().end_connection(number, UCS_ERR_EXCEEDS_LIMIT));
    CHECK_FALSE(to.iface().end_connection(number, UCS_ERR_EXCEEDS_LIMIT));
    REQUIRE(send_until_failed(net, bad, *ended, out, which));
    REQUIRE(net.run_until([&] { return !bad.failures.empty(); }));
    net.settle();
    // A device may have received messages that were in flight.
    const std::string transport = net.where().where().transport;
    if (transport != "rc_verbs") CHECK(to.count(1) == 1);
    const std::size_t before = to.count(1);
    CHECK(bad.failures.front().which == ended.get());
    // Both directions use one connection.
    CHECK(to.failures.size() == (transport == "tcp" ? 1U : 0U));
    for (const failure& each : to.failures)
        CHECK(each.status == UCS_ERR_EXCEEDS_LIMIT);
    for (std::uint32_t i = 1; i < 30; ++i)
        REQUIRE(out.send(good, *kept, which, 1, make_message({2, i}, 16)));
    REQUIRE(net.run_until([&] { return to.count(2) == 30; }));
    CHECK(good.failures.empty());
    CHECK(to.count(1) == before);
}

}  // namespace conformance
