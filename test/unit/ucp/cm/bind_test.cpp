// Tests of binds that no client requested, and of answers to our own binds.

#include <algorithm>
#include <deque>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/loopback_server.hpp"
#include "ucp/am/receiver.hpp"
#include "ucp/wireup/connection.hpp"

using namespace ucp_test;
namespace wire = ucp::wire;

namespace {

// Returns the bind that the client's server would send.
wire::wireup_header bind_of(const client_world& in) {
    wire::wireup_header bind = in.peer.about(wire::wireup_type::bind, 55, in.client.id());
    bind.set_token(ucp::wireup::socket_of(in.client)->token());
    return bind;
}

// A client whose request the program has accepted, and the other end of its socket.
struct accepted_client {
    explicit accepted_client(const raw_world& in) {
        ucp::ep_params params;
        params.error_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.error_handler = {[](void* arg, ucp_ep_h, ucs_status_t status) {
                                    static_cast<accepted_client*>(arg)->failure = status;
                                },
                                this};
        const auto accepted = accept_client(
            *in.worker, client_request(in.peer.uid(), in.peer.address()), socket, params);
        REQUIRE(accepted.ok());
        made = *accepted;
    }
    accepted_client(const accepted_client&) = delete;
    accepted_client& operator=(const accepted_client&) = delete;

    ucs::unique_fd socket;
    ucp::ep* made = nullptr;
    ucs_status_t failure = UCS_OK;
};

}  // namespace

TEST_CASE("a bind for an endpoint that is no client's, or gone, is refused", "[cm]") {
    raw_world in({});
    const std::size_t endpoints = in.worker->endpoints().size();
    const bool gone = GENERATE(false, true);
    const std::uint64_t ep = gone ? in.ep_id() + 99 : in.ep_id();
    wire::wireup_header bind = in.peer.about(wire::wireup_type::bind, 55, ep);
    bind.set_token(1);
    in.deliver(wire::wireup, bind, in.peer.address());
    const auto answers = in.peer.connection_messages(2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].peer_ep_or_number == 55);
    CHECK(in.worker->endpoints().size() == endpoints);
    CHECK(in.ep().failure() == UCS_OK);
}

TEST_CASE("a bind for another worker is refused in that worker's name", "[cm]") {
    raw_world in({});
    const std::uint64_t wanted_uid = in.worker->uid() + 1;
    in.deliver(
        wire::wireup,
        wire::wireup_header{wire::wireup_type::bind, {}, in.peer.uid(), wanted_uid, 55, in.ep_id()},
        in.peer.address());
    const auto answers = in.peer.connection_messages(2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].uid == wanted_uid);
}

TEST_CASE("an endpoint that the server closed stays for its client when their socket ends",
          "[cm]") {
    raw_world in({});
    const std::size_t before = in.worker->endpoints().size();
    accepted_client client(in);
    const std::uint64_t id = client.made->id();
    raw_world::close_by_force(ucp::capi::handle(*client.made));
    // The client has answered the bind when the socket breaks.
    const auto send_message = [&](wire::wireup_type type) { in.deliver(type, 55, id); };
    send_message(wire::wireup_type::reply);
    client.socket.reset();
    in.turn();
    CHECK(in.worker->endpoints().size() == before + 1);
    send_message(wire::wireup_type::close);
    CHECK(in.worker->endpoints().size() == before);
}

TEST_CASE("an accepted client that does not answer ends in time, with one line", "[cm]") {
    const test::log_capture log;
    raw_world in({});
    const std::size_t before = in.worker->endpoints().size();
    accepted_client silent(in);
    const std::uint64_t id = silent.made->id();
    // The limit is a minute of this side's own time: a period without progress counts once.
    in.network.advance(3600 * ucs::time::second);
    in.turn();
    CHECK(silent.failure == UCS_OK);
    in.pass_seconds(30);
    CHECK(silent.failure == UCS_OK);
    CHECK(log.count("", ucs::log::level::warn) == 0);
    in.pass_seconds(40);
    INFO(log.text());
    CHECK(silent.failure == UCS_ERR_TIMED_OUT);
    CHECK(log.count("has not answered since it was accepted", ucs::log::level::warn) == 1);
    // The client's answer comes too late.
    in.deliver(wire::wireup_type::reply, 55, id);
    raw_world::close_by_force(ucp::capi::handle(*silent.made));
    in.settle();
    CHECK(in.worker->endpoints().size() == before);
}

TEST_CASE("an accepted client that has answered has no further deadline", "[cm]") {
    raw_world in({});
    accepted_client slow(in);
    in.pass_seconds(45);
    in.peer.send(wire::wireup_type::reply, 55, slow.made->id());
    in.pass_seconds(200);
    CHECK(slow.failure == UCS_OK);
}

TEST_CASE("the number of accepted clients that do not answer is bounded", "[cm]") {
    const test::log_capture log;
    raw_world in({});
    std::deque<accepted_client> all;
    for (int i = 0; i < 800; ++i) {
        all.emplace_back(in);
        in.settle();
    }
    const auto failed = std::count_if(all.begin(), all.end(), [](const accepted_client& each) {
        return each.failure == UCS_ERR_EXCEEDS_LIMIT;
    });
    CHECK(failed == 800 - 768);
    CHECK(all.front().failure == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(all.back().failure == UCS_OK);
    CHECK(log.count("have not answered since they were accepted", ucs::log::level::warn) == 1);
}

TEST_CASE("a client without a bind takes no answer of any worker", "[cm]") {
    client_world in;
    // The placeholder peer of waiting clients has uid 0.
    const std::uint64_t uid = GENERATE(false, true) ? in.peer.uid() : 0;
    const auto type =
        GENERATE(wire::wireup_type::reply, wire::wireup_type::close, wire::wireup_type::refuse);
    in.deliver(wire::wireup,
               wire::wireup_header{type, {}, uid, in.worker->uid(), 55, in.client.id()},
               in.peer.address());
    CHECK(ucp::wireup::state_of(in.client) == ucp::wireup::state::requested);
    CHECK(in.client.failure() == UCS_OK);
}

namespace {

// The address of a worker that is not the peer.
std::vector<std::byte> address_of_another(const raw_world& in) {
    return with_key(in.peer.address(), ucs::security::key_pair::random().public_half());
}

}  // namespace

TEST_CASE("a bind that its server has not proven changes nothing", "[cm]") {
    client_world in;
    const wire::wireup_header bind = bind_of(in);
    const wire::wireup_header sealed = in.peer.sealed(bind, in.peer.address());
    const test::log_capture log;
    in.peer.send_as_it_is(bind, in.peer.address());         // without a proof
    in.peer.send_as_it_is(sealed, address_of_another(in));  // with the proof of another message
    in.settle();
    INFO(log.text());
    CHECK(ucp::wireup::state_of(in.client) == ucp::wireup::state::requested);
    CHECK(log.count("has not proven", ucs::log::level::warn) == 2);
    in.deliver_as_it_is(sealed, in.peer.address());
    CHECK(ucp::wireup::state_of(in.client) == ucp::wireup::state::ready);
}

TEST_CASE("a bind with an address that is not the server's ends the connection with one line",
          "[cm]") {
    client_world in;
    const bool readable = GENERATE(false, true);
    const wire::wireup_header bind = bind_of(in);
    const test::log_capture log;
    in.deliver(wire::wireup, bind,
               readable ? address_of_another(in) : std::vector<std::byte>(20, std::byte{0xee}));
    INFO(log.text());
    CHECK(in.client.failure() == UCS_ERR_REJECTED);
    CHECK(log.size() == 1);
    CHECK(log.count(readable ? "in the name of worker" : "address", ucs::log::level::warn) == 1);
    CHECK(in.worker->log().rejected().count() == 1);
}

TEST_CASE("a repeated bind for a failed client is refused", "[cm]") {
    // The client had replied, and failed with its lanes before the server received either.
    client_world in;
    const wire::wireup_header bind = bind_of(in);
    in.deliver(wire::wireup, bind, in.peer.address());
    REQUIRE(ucp::wireup::state_of(in.client) == ucp::wireup::state::ready);
    ucp::wireup::handle(in.client, ucp::wireup::event::peer_failure, UCS_ERR_CONNECTION_RESET);
    in.deliver(wire::wireup, bind, in.peer.address());
    const auto answers = in.peer.connection_messages(3);
    CHECK(answers[2].type == wire::wireup_type::refuse);
    CHECK(answers[2].peer_ep_or_number == 55);
}

TEST_CASE("a peer that connected first and that a client then connects to is no stranger", "[cm]") {
    // Regression: the lane of the program's endpoint was emptied for new peers.
    client_world in;
    raw_peer asker(in.network, *in.worker);
    in.drive([&asker] { return asker.progress(); });
    asker.send(wire::wireup_type::request, 88, 0);
    in.settle();
    CHECK(in.worker->limits().uninvited().size() == 1);
    wire::wireup_header bind = bind_of(in);
    bind.uid = asker.uid();
    asker.send(wire::wireup, bind, asker.address());
    in.settle();
    REQUIRE(ucp::wireup::state_of(in.client) == ucp::wireup::state::ready);
    CHECK_FALSE(in.client.remote().uninvited.is_stranger());
}

TEST_CASE("a client fails if no transport reaches the server of its bind", "[cm]") {
    client_world in;
    raw_peer far(in.network, *in.worker);
    in.drive([&far] { return far.progress(); });
    auto unreachable = parsed(far.address());
    unreachable.entries.clear();
    wire::wireup_header bind = bind_of(in);
    bind.uid = far.uid();
    const test::log_capture log;
    far.send(wire::wireup, bind, ucp::address::pack(unreachable, false));
    in.settle();
    INFO(log.text());
    CHECK(ucp::wireup::state_of(in.client) == ucp::wireup::state::failed);
    CHECK(in.client.failure() == UCS_ERR_UNREACHABLE);
    CHECK(log.count("is unreachable", ucs::log::level::error) == 1);
}

TEST_CASE("messages that begin before the bind count for the server from then on", "[cm][am]") {
    // Regression: the messages counted for a peer object that the bind had destroyed.
    client_world in;
    slot_of<ucp::am_receiver>(*in.worker)
        .set_handler(5, {.call = [](void*, const void*, std::size_t, void*, std::size_t,
                                    const ucp_am_recv_param_t*) { return UCS_OK; },
                         .arg = nullptr,
                         .whole = true});
    const std::uint64_t am_id = wire::to_bits({5, 0, 0});
    const bool is_rendezvous = GENERATE(false, true);
    if (is_rendezvous) {
        in.peer.send(wire::am_rts, wire::rts_header{am_id, 100, in.client.id(), 9, 0, 0});
    } else {
        in.peer.send(wire::am_first, wire::eager_first_header{am_id, 100, in.client.id(), 1, 0},
                     std::vector<std::byte>(10));
    }
    in.settle();
    const ucp::shared_limit& limit = slot_of<ucp::am_receiver>(*in.worker).arriving();
    const std::uint64_t begun = limit.used();
    CHECK(begun > 0);
    CHECK(slot_of<ucp::peer_arriving>(in.client.remote()).share.used() == begun);
    in.deliver(wire::wireup, bind_of(in), in.peer.address());
    REQUIRE(ucp::wireup::state_of(in.client) == ucp::wireup::state::ready);
    CHECK(limit.used() == begun);
    CHECK(slot_of<ucp::peer_arriving>(in.client.remote()).share.used() == begun);
    if (is_rendezvous) {
        ucp::wireup::handle(in.client, ucp::wireup::event::peer_failure, UCS_ERR_CONNECTION_RESET);
    } else {
        in.peer.send(wire::eager_data, wire::eager_data_header{in.client.id(), 1, 10},
                     std::vector<std::byte>(90));
    }
    in.settle();
    CHECK(limit.used() == 0);
    CHECK(slot_of<ucp::peer_arriving>(in.client.remote()).share.used() == 0);
}
