// Tests of connection messages that arrive when their endpoint is gone, and of final messages and
// repeated requests.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/pair_wire.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

}  // namespace

TEST_CASE("a reply to an endpoint that is gone is refused, so that its other end does not stay") {
    // Regression: the request had outlived its connection, and the endpoint that it made waited for
    // ever.
    raw_world in({});
    in.deliver(wire::wireup_type::reply, 55, in.ep_id() + 99);
    const auto answers = in.peer.connection_messages(2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].peer_ep_or_number == 55);
}

TEST_CASE("an endpoint that the peer's request made ends when the peer refuses the reply") {
    raw_world in({});
    in.deliver(wire::wireup_type::request, 88, 1);
    const auto answers = in.peer.connection_messages(2);
    REQUIRE(in.worker->endpoints().size() == 2);
    wire::wireup_header refusal = in.peer.about(wire::wireup_type::refuse, 0, answers[1].ep);
    refusal.receipt = answers[1].receipt;
    in.deliver(wire::wireup, refusal);
    CHECK(in.worker->endpoints().size() == 1);
}

TEST_CASE(
    "a request for another worker is refused in that worker's name, which the requester knows") {
    // Regression: the refusal used to name this worker, so the requester dropped it and waited for
    // ever.
    raw_world in({});
    const std::uint64_t asked = in.worker->uid() + 1;
    in.deliver(wire::wireup,
               wire::wireup_header{wire::wireup_type::request, {}, in.peer.uid(), asked, 66, 1},
               in.peer.address());
    const auto answers = in.peer.connection_messages(2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].uid == asked);
    CHECK(answers[1].peer_ep_or_number == 66);
    CHECK(in.worker->endpoints().size() == 1);
}

TEST_CASE("a send to a worker that is not there any more fails when it is refused") {
    raw_world in({});
    in.close_by_force();
    const ucp_ep_h ep = in.make_ep();
    completion_record sent;
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, "x", 1, 1, sent.on_send())));
    in.settle();
    const auto asked = in.peer.connection_messages();
    REQUIRE(asked.back().type == wire::wireup_type::request);
    const test::log_capture log;
    wire::wireup_header refusal = in.peer.about(wire::wireup_type::refuse, 0, asked.back().ep);
    refusal.receipt = asked.back().receipt;
    in.deliver(wire::wireup, refusal);
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_ERR_UNREACHABLE);
    INFO(log.text());
    CHECK(log.size() == 1);
    CHECK(log.count("is unreachable: the process at its address refuses", ucs::log::level::warn) ==
          1);
    CHECK(log.count("sim/") == 1);  // the line lists each transport
}

TEST_CASE(
    "operations end when the peer's endpoint failed on its side, and the peer is not notified") {
    // In error handling mode NONE a close ends no operation that waits for a reply.
    raw_world in({});
    completion_record sent;
    in.send_sync(std::vector<std::byte>(10), sent);
    in.settle();
    CHECK(sent.times == 0);
    in.deliver(wire::wireup_type::failed, raw_world::peer_ep, in.ep_id(), {});
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_ERR_CONNECTION_RESET);
    CHECK(in.peer.connection_messages().size() == 1);
    in.close_by_force();
    in.settle();
    CHECK(in.worker->endpoints().size() == 0);
}

TEST_CASE("a connection message lost for lack of memory fails the peer's endpoint as well") {
    raw_world in({});
    in.ep().remote().fail_alive(UCS_ERR_NO_MEMORY);
    in.settle();
    const auto messages = in.peer.connection_messages(2);
    CHECK(messages.back().type == wire::wireup_type::failed);
    CHECK(in.ep().failure() == UCS_ERR_NO_MEMORY);
}

TEST_CASE(
    "a closed endpoint also notifies the peer of a failure, because the peer may still send "
    "requests") {
    raw_world in({});
    ucp::peer& remote = in.ep().remote();
    in.close_by_force();
    in.settle();
    remote.fail_alive(UCS_ERR_NO_MEMORY);
    in.settle();
    const auto messages = in.peer.connection_messages(3);
    CHECK(messages[1].type == wire::wireup_type::close);
    CHECK(messages[2].type == wire::wireup_type::failed);
    CHECK(in.worker->endpoints().size() == 0);
}

TEST_CASE("the final message of an endpoint waits for room, and the endpoint waits for it") {
    raw_world in({}, {.tx_window = 1});
    completion_record sent;
    in.send_sync(std::vector<std::byte>(10), sent);  // fills the lane
    in.close_by_force();
    in.peer.send(wire::wireup,
                 in.peer.about(wire::wireup_type::close, raw_world::peer_ep, in.ep_id()));
    SECTION("until there is room") {
        in.settle();
        const auto messages = in.peer.connection_messages(2);
        CHECK(messages.back().type == wire::wireup_type::close);
    }
    SECTION("or until the lane goes") {
        const auto node = [&](std::uint64_t uid) { return *in.network.find_node(uid); };
        in.network.fail_after(node(in.worker->uid()), node(in.peer.uid()), 1);
        const test::log_capture log;
        in.settle();
        // An endpoint that is over needs no other lane, so nothing is logged as missing.
        CHECK(log.count("unreachable") == 0);
    }
    SECTION("or until the worker goes") {
        in.worker.reset();
        return;
    }
    CHECK(in.worker->endpoints().size() == 0);
}

TEST_CASE("an unanswered connection request is repeated once per interval") {
    raw_world in(settings{{"KEEPALIVE_INTERVAL", "20s"}});
    const ucp_ep_h asking = in.make_ep();
    in.use(ucp::capi::from(asking));
    const auto requests = [&] {
        std::vector<wire::wireup_header> all;
        for (const auto& each : in.peer.connection_messages())
            if (each.type == wire::wireup_type::request) all.push_back(each);
        return all;
    };
    REQUIRE(requests().size() == 1);
    in.pass_seconds(19);
    CHECK(requests().size() == 1);
    in.pass_seconds(40);
    REQUIRE(requests().size() == 3);
    CHECK(requests()[2].ep == requests()[0].ep);
    const auto reply = [&](std::uint64_t from_ep) {
        in.deliver(wire::wireup_type::reply, from_ep, requests()[0].ep);
    };
    const auto refused = [&] {
        std::vector<std::uint64_t> all;
        for (const auto& each : in.peer.connection_messages())
            if (each.type == wire::wireup_type::refuse) all.push_back(each.peer_ep_or_number);
        return all;
    };
    SECTION("until the reply arrives") {
        reply(88);
        CHECK(ucp::wireup::state_of(ucp::capi::from(asking)) == ucp::wireup::state::ready);
        in.pass_seconds(60);
        CHECK(requests().size() == 3);
    }
    SECTION("and a second reply changes nothing") {
        reply(88);
        reply(88);
        CHECK(refused().empty());
        CHECK(ucp::capi::from(asking).remote_id() == 88);
    }
    SECTION("and the reply of another endpoint, made after the first had closed, is refused") {
        reply(88);
        reply(89);
        CHECK(refused() == std::vector<std::uint64_t>{89});
        CHECK(ucp::capi::from(asking).remote_id() == 88);
    }
    SECTION("until the worker ends") {
        raw_world::close_by_force(asking);
        in.pass_seconds(20);
        CHECK(requests().size() ==
              4);  // the peer may have accepted the request, so only its reply ends the endpoint
        in.worker.reset();
    }
}

TEST_CASE("an endpoint that was closed before it was connected ignores credits of its peer") {
    raw_world in({});
    const ucp_ep_h asking = in.make_ep();
    ucp::ep& closed = ucp::capi::from(asking);
    in.use(closed);
    const std::uint64_t id = closed.id();
    // As ucp_ep_close_nbx does if there is no memory for a request that waits.
    ucp::wireup::detach(closed);
    ucp::wireup::close_flushed(closed);
    in.deliver(wire::wireup_type::reply, 88, id);
    REQUIRE(ucp::wireup::state_of(closed) == ucp::wireup::state::closing);
    ucp::peer& remote = in.ep().remote();
    ucp::slot_of<ucp::eager_credits>(remote).begin_without();
    ucp::slot_of<ucp::eager_credits>(remote).request(in.ep());
    ucp::slot_of<ucp::eager_credits>(remote).on_granted(in.ep());
    CHECK_FALSE(ucp::slot_of<ucp::eager_credits>(remote).window().uses_rendezvous());
}

TEST_CASE("a repeated request for an endpoint that was closed meanwhile makes no new one") {
    raw_world in({});
    in.close_by_force();
    in.settle();
    REQUIRE(in.worker->endpoints().size() == 1);  // until the peer has closed as well
    const auto before = in.peer.connection_messages().size();
    in.deliver(wire::wireup_type::request, raw_world::peer_ep, 0);
    CHECK(in.worker->endpoints().size() == 1);
    CHECK(in.peer.connection_messages().size() == before);
}

TEST_CASE("an endpoint does not end with an endpoint of the peer that is not its other end") {
    raw_world in({});
    const auto type = GENERATE(wire::wireup_type::failed, wire::wireup_type::close);
    in.deliver(type, raw_world::peer_ep + 1, in.ep_id(), {});
    CHECK(ucp::wireup::state_of(in.ep()) == ucp::wireup::state::ready);
}

TEST_CASE("an unexpected pair reply is refused") {
    // Regression: the pair request had arrived after the requester had given it up. The responder
    // waited for ever, and dropped all messages over other lanes.
    raw_world in({});
    const std::byte connection[] = {std::byte{1}, std::byte{2}};
    const ucp::wireup::pair_reply reply{{connection, 0}};
    in.deliver(wire::wireup_type::paired, 4711, 0, ucp::wireup::pack(reply));
    const auto answers = in.peer.connection_messages(2);
    CHECK(answers[1].type == wire::wireup_type::unpaired);
    CHECK(answers[1].ep == 4711);
}

namespace {

// One endpoint is connected, and another one has sent a request. The peer, whose endpoints to this
// worker are other ones, sends a pair request, with or without lanes.
struct pairing_world : raw_world {
    pairing_world() : raw_world({}) { use(ucp::capi::from(make_ep())); }
    void request_pairing(std::uint64_t attempt, const std::vector<ucp::wireup::pair_lane>& lanes) {
        const std::vector<std::byte> own = peer.address();
        deliver(wire::wireup_type::pair, attempt, 0,
                ucp::wireup::pack(ucp::wireup::pair_request{lanes, own}));
    }
    void reply_to_pairing(std::uint64_t attempt) {
        const std::byte connection[] = {std::byte{1}, std::byte{2}};
        const ucp::wireup::pair_reply reply{{connection, 0}};
        deliver(wire::wireup_type::paired, attempt, 0, ucp::wireup::pack(reply));
    }
    void leave(std::uint64_t attempt) {
        const auto why = static_cast<std::uint64_t>(wire::unpaired_reason::cannot);
        deliver(wire::wireup_type::unpaired, attempt, why, {});
    }
    // The messages that the peer received since the first reply.
    [[nodiscard]] std::vector<wire::wireup_type> received() const {
        std::vector<wire::wireup_type> types;
        for (const auto& each : peer.connection_messages())
            types.push_back(each.type);
        return {types.begin() + 1, types.end()};
    }
};

}  // namespace

TEST_CASE(
    "a worker that refused paired lanes repeats its requests when the requester has given up") {
    // The requests had arrived over other lanes than the peer was about to have. They were dropped
    // and got no reply.
    pairing_world in;
    using enum wire::wireup_type;
    in.request_pairing(4711, {{"simrc", {}, {}, {}, 0}});
    CHECK(in.received() == std::vector{request, unpaired});
    in.leave(4711);
    CHECK(in.received() == std::vector{request, unpaired, request});
}

TEST_CASE("requests are repeated to a peer that declines paired lanes") {
    pairing_world in;
    using enum wire::wireup_type;
    in.request_pairing(4711, {});
    CHECK(in.received() == std::vector{request, request});
}

TEST_CASE("requests are repeated once when both sides have left the paired lanes") {
    // The requests are repeated once, although each one that came over other lanes causes a
    // reminder.
    pairing_world in;
    using enum wire::wireup_type;
    in.reply_to_pairing(4711);
    in.reply_to_pairing(4711);
    in.leave(4711);
    CHECK(in.received() == std::vector{request, unpaired, unpaired, request});
}
