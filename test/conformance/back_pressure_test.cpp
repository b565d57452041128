// Conformance: back-pressure. UCS_ERR_NO_RESOURCE, the queue of pending sends, and recovery.
#include "test/conformance/support/suite.hpp"

namespace conformance {

namespace {

// A queued send of one message.
struct queued_send : uct::pending_request {
    queued_send(uct::op which, const bytes& m, uct::ep& e, const uct::iface_attr& l)
        : uct::pending_request{.progress = run, .pending_hook = {}},
          message(which, 1, m),
          via(e),
          limits(l) {}
    static ucs_status_t run(uct::pending_request& request) {
        auto& self = static_cast<queued_send&>(request);
        ++self.attempts;
        const ucs_status_t status = self.message.post(self.via, self.limits);
        if (status != UCS_ERR_NO_RESOURCE) self.finished = status;
        return status;
    }
    outgoing message;
    uct::ep& via;
    const uct::iface_attr& limits;
    unsigned attempts = 0;
    ucs_status_t finished = UCS_INPROGRESS;
};

// An endpoint that was filled until it found no resource.
struct filled {
    // There is no progress meanwhile, so filling must end: a transport keeps no unbounded queue.
    explicit filled(network& n) : net(n), a(n.at(0)), b(n.at(1)), out(n), via(a.connect(b)) {
        which = message_ops(a.attr()).back() == uct::op::am_zcopy ? uct::op::am_bcopy
                                                                  : message_ops(a.attr()).back();
        size = std::min<std::size_t>(lengths(a.attr(), which).max, 4000);
        REQUIRE(out.send(a, *via, which, 1, make_message({1, sent++}, size)));
        REQUIRE(net.run_until([&] { return b.inbox.size() == sent; }));
        constexpr std::size_t limit = std::size_t{512} << 20U;
        ucs_status_t status = UCS_OK;
        while (status == UCS_OK && sent * size < limit)
            status = out.try_send(a, *via, which, 1, make_message({1, sent}, size)) == UCS_OK
                         ? (++sent, UCS_OK)
                         : out.last_status();
        REQUIRE(status == UCS_ERR_NO_RESOURCE);
    }

    queued_send& queue(const bytes& message) {
        requests.push_back(std::make_unique<queued_send>(which, message, *via, a.attr()));
        via->pending_add(*requests.back());
        return *requests.back();
    }
    void check_takes_messages() {
        REQUIRE(out.send(a, *via, which, 1, make_message({1, sent}, size)));
        check_order(sent + 1);
    }
    void check_order(std::uint32_t count) {
        REQUIRE(net.run_until([&] { return b.inbox.size() == count && out.all_ended(); }));
        for (std::uint32_t i = 0; i < count; ++i)
            REQUIRE(tag_of(b.inbox[i].data) == tag{1, i});
    }

    network& net;
    side& a;
    side& b;
    sender out;
    std::unique_ptr<uct::ep> via;
    uct::op which{};
    std::size_t size = 0;
    std::uint32_t sent = 0;
    std::vector<std::unique_ptr<queued_send>> requests;
};

void collect(uct::pending_request& request, void* into) {
    static_cast<std::vector<uct::pending_request*>*>(into)->push_back(&request);
}

}  // namespace

CONFORMANCE_CASE(fills_up, "an endpoint that is not drained refuses, and takes messages again",
                 needs::copied_messages) {
    filled path(net);
    path.check_order(path.sent);
    path.check_takes_messages();
}

CONFORMANCE_CASE(pending_order, "queued sends are sent in the order of queueing, once each",
                 needs::copied_messages) {
    filled path(net);
    constexpr std::uint32_t waiting = 20;
    for (std::uint32_t i = 0; i < waiting; ++i)
        path.queue(make_message({1, path.sent + i}, 40));
    path.check_order(path.sent + waiting);
    for (const auto& request : path.requests) {
        CHECK(request->finished == UCS_OK);
        CHECK(request->attempts >= 1);
    }
    const unsigned attempts = path.requests.front()->attempts;
    net.settle();
    CHECK(path.requests.front()->attempts == attempts);
}

CONFORMANCE_CASE(queue_first, "new sends are refused while older ones are queued",
                 needs::copied_messages) {
    filled path(net);
    const queued_send& request = path.queue(make_message({1, path.sent}, 40));
    std::uint32_t next = path.sent + 1;
    // The receiver makes room; new sends must not overtake the queued ones meanwhile.
    REQUIRE(net.run_until([&] {
        if (request.finished != UCS_INPROGRESS) return true;
        for (const uct::op each : message_ops(path.a.attr())) {
            const ucs_status_t status =
                path.out.try_send(path.a, *path.via, each, 1, make_message({1, next}, 40));
            CHECK(status == UCS_ERR_NO_RESOURCE);
        }
        return false;
    }));
    CHECK(request.finished == UCS_OK);
    REQUIRE(path.out.send(path.a, *path.via, path.which, 1, make_message({1, next}, 40)));
    path.check_order(next + 1);
}

CONFORMANCE_CASE(purged, "purge returns all queued sends in order and the endpoint stays usable",
                 needs::copied_messages) {
    filled path(net);
    constexpr std::uint32_t waiting = 5;
    for (std::uint32_t i = 0; i < waiting; ++i)
        path.queue(make_message({3, i}, 40));
    std::vector<uct::pending_request*> back;
    path.via->pending_purge(collect, &back);
    REQUIRE(back.size() == waiting);
    for (std::uint32_t i = 0; i < waiting; ++i)
        CHECK(back[i] == path.requests[i].get());
    back.clear();
    path.via->pending_purge(collect, &back);
    CHECK(back.empty());
    path.check_takes_messages();
    for (const auto& request : path.requests)
        CHECK(request->attempts == 0);
}

CONFORMANCE_CASE(removed,
                 "a queued send that is taken out is not sent, its neighbours are in order",
                 needs::copied_messages) {
    filled path(net);
    constexpr std::uint32_t waiting = 5;
    constexpr std::uint32_t middle = 2;
    std::uint32_t next = path.sent;
    for (std::uint32_t i = 0; i < waiting; ++i)
        path.queue(make_message({1, i == middle ? 0 : next++}, 40));
    queued_send& removed_one = *path.requests[middle];
    path.via->pending_remove(removed_one);
    CHECK_FALSE(removed_one.pending_hook.is_linked());
    REQUIRE(net.run_until([&] { return path.requests.back()->finished != UCS_INPROGRESS; }));
    CHECK(removed_one.attempts == 0);
    path.check_order(next);
}

CONFORMANCE_CASE(waiting_share, "endpoints that wait do not starve each other",
                 needs::copied_messages) {
    const uct::op which = message_ops(a.attr()).front();
    std::vector<std::unique_ptr<queued_send>> requests;
    std::vector<std::unique_ptr<uct::ep>> eps;
    constexpr std::uint32_t streams = 4;
    constexpr std::uint32_t each = 100;
    for (std::uint32_t s = 0; s < streams; ++s)
        eps.push_back(a.connect(b));
    // Queues the send without an attempt if the endpoint has a queue already.
    for (std::uint32_t i = 0; i < each; ++i) {
        for (std::uint32_t s = 0; s < streams; ++s) {
            requests.push_back(
                std::make_unique<queued_send>(which, make_message({s, i}, 16), *eps[s], a.attr()));
            const ucs_status_t status = requests.back()->message.post(*eps[s], a.attr());
            REQUIRE((status == UCS_OK || status == UCS_ERR_NO_RESOURCE));
            if (status == UCS_ERR_NO_RESOURCE) eps[s]->pending_add(*requests.back());
        }
    }
    REQUIRE(net.run_until([&] { return b.inbox.size() == streams * each; }));
    std::array<std::uint32_t, streams> next{};
    for (const received& message : b.inbox) {
        const tag id = tag_of(message.data);
        REQUIRE(id.stream < streams);
        REQUIRE(id.number == next[id.stream]++);
    }
    eps.clear();
}

}  // namespace conformance
