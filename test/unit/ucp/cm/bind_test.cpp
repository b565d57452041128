// Binds that no client asked for, and answers to ours.
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/loopback_server.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/cm/endpoint.hpp"

using namespace ucp_test;
namespace wire = ucp::wire;

namespace {

// The bind that the client's server would send.
wire::wireup_header bind_of(const raw_world& in, const ucp::ep& client) {
    wire::wireup_header said{wire::wireup_type::bind, {}, in.peer.uid(),
                             in.worker->uid(),        55, client.id()};
    const std::uint64_t token = client.by_socket()->token();
    std::memcpy(said.pad, &token, sizeof said.pad);
    return said;
}

}  // namespace

TEST_CASE("a bind for an endpoint that is none of a client, or gone, is refused", "[cm]") {
    raw_world in({});
    const std::size_t endpoints = in.worker->endpoint_count();
    const bool gone = GENERATE(false, true);
    const std::uint64_t ep = gone ? in.ep_id() + 99 : in.ep_id();
    in.peer.send(
        wire::wireup,
        wire::wireup_header{wire::wireup_type::bind, {1}, in.peer.uid(), in.worker->uid(), 55, ep},
        in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].peer_ep_or_number == 55);
    CHECK(in.worker->endpoint_count() == endpoints);
    CHECK(in.ep().failure() == UCS_OK);
}

TEST_CASE("a bind for another worker is refused in that worker's name", "[cm]") {
    raw_world in({});
    const std::uint64_t asked = in.worker->uid() + 1;
    in.peer.send(
        wire::wireup,
        wire::wireup_header{wire::wireup_type::bind, {}, in.peer.uid(), asked, 55, in.ep_id()},
        in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].uid == asked);
}

TEST_CASE("an endpoint that the server closed stays for its client when their socket ends",
          "[cm]") {
    raw_world in({});
    const std::size_t before = in.worker->endpoint_count();
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    ucs::unique_fd client(ends[0]);
    auto asked = std::make_unique<ucp::cm::conn_request>(
        ucp::cm::wire::request{.uid = in.peer.uid(),
                               .ep = 55,
                               .token = 1,
                               .client_id = 0,
                               .shows_client_id = false,
                               .address = in.peer.address()},
        uct::tcp::socket_address());
    asked->give_channel(ucp::cm::tcp_channel(ucs::unique_fd(ends[1])));
    const auto made = ucp::cm::accept(*in.worker, std::move(asked), {});
    REQUIRE(made.ok());
    const std::uint64_t id = (*made)->id();
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    REQUIRE(ucp_ep_close_nbx(ucp::capi::handle(**made), &force) == nullptr);
    // The client has answered the bind when the socket breaks.
    const auto say = [&](wire::wireup_type what) {
        in.peer.send(wire::wireup,
                     wire::wireup_header{what, {}, in.peer.uid(), in.worker->uid(), 55, id},
                     in.peer.address());
        in.settle();
    };
    say(wire::wireup_type::reply);
    client.reset();
    in.worker->look_everywhere();
    in.settle();
    CHECK(in.worker->endpoint_count() == before + 1);
    say(wire::wireup_type::close);
    CHECK(in.worker->endpoint_count() == before);
}

TEST_CASE("a client that nobody has bound takes no answer, in whose name it may come", "[cm]") {
    raw_world in({});
    const loopback_server server;
    const ucp::ep& client = server.client_of(in);
    // The peer object of those that wait says 0.
    const std::uint64_t uid = GENERATE(false, true) ? in.peer.uid() : 0;
    const auto what =
        GENERATE(wire::wireup_type::reply, wire::wireup_type::close, wire::wireup_type::refuse);
    in.peer.send(wire::wireup,
                 wire::wireup_header{what, {}, uid, in.worker->uid(), 55, client.id()},
                 in.peer.address());
    in.settle();
    CHECK(client.connection() == ucp::wireup::state::requested);
    CHECK(client.failure() == UCS_OK);
}

namespace {

// The address of a worker that is not the peer.
std::vector<std::byte> address_of_another(const raw_world& in) {
    auto changed = *ucp::address::parse(std::span<const std::byte>(in.peer.address()));
    changed.identity = ucs::security::key_pair::random().open();
    return ucp::address::pack(changed, false);
}

}  // namespace

TEST_CASE("a bind that its server has not proven changes nothing", "[cm]") {
    raw_world in({});
    const loopback_server server;
    ucp::ep& client = server.client_of(in);
    const wire::wireup_header said = bind_of(in, client);
    const wire::wireup_header sealed = in.peer.sealed(said, in.peer.address());
    const test::log_capture log;
    in.peer.send_as_it_is(said, in.peer.address());         // no proof
    in.peer.send_as_it_is(sealed, address_of_another(in));  // of another message
    in.settle();
    INFO(log.text());
    CHECK(client.connection() == ucp::wireup::state::requested);
    CHECK(log.count("has not proven", ucs::log::level::warn) == 2);
    in.peer.send_as_it_is(sealed, in.peer.address());
    in.settle();
    CHECK(client.connection() == ucp::wireup::state::ready);
}

TEST_CASE("a bind with an address that is not the server's ends the connection, with one line",
          "[cm]") {
    raw_world in({});
    const loopback_server server;
    const ucp::ep& client = server.client_of(in);
    const bool readable = GENERATE(false, true);
    const wire::wireup_header said = bind_of(in, client);
    const test::log_capture log;
    in.peer.send(wire::wireup, said,
                 readable ? address_of_another(in) : std::vector<std::byte>(20, std::byte{0xee}));
    in.settle();
    INFO(log.text());
    CHECK(client.failure() == UCS_ERR_REJECTED);
    CHECK(log.size() == 1);
    CHECK(log.count(readable ? "in the name of worker" : "address", ucs::log::level::warn) == 1);
    CHECK(in.worker->rejected().count() == 1);
}

TEST_CASE("a bind that comes again for a client that has failed is refused", "[cm]") {
    // The client had answered, and failed with its lanes before the server heard either.
    raw_world in({});
    const loopback_server server;
    ucp::ep& client = server.client_of(in);
    const wire::wireup_header said = bind_of(in, client);
    in.peer.send(wire::wireup, said, in.peer.address());
    in.settle();
    REQUIRE(client.connection() == ucp::wireup::state::ready);
    client.handle(ucp::wireup::event::peer_failure, UCS_ERR_CONNECTION_RESET);
    in.peer.send(wire::wireup, said, in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 3);
    CHECK(answers[2].type == wire::wireup_type::refuse);
    CHECK(answers[2].peer_ep_or_number == 55);
}
