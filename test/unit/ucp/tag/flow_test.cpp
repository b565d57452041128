// A sender, and a receiver without credits to give. The test sends the other peer's messages
// itself.
#include "ucp/tag/flow.hpp"

#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/tag/matcher.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using wire::wireup_type;

constexpr std::size_t cost = ucp::eager_window::message_cost;
constexpr std::size_t in_window = 20;  // empty messages
const settings small{{"UNEXPECTED_WINDOW", std::to_string(in_window* cost)},
                     {"UNEXPECTED_LIMIT", "1000"}};

std::size_t count_of(const raw_world& in, wire::id id) {
    return in.peer.received<std::byte>(id).size();
}

// Sends messages that need not complete.
void send_empty(raw_world& in, ucp_ep_h to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const ucs_status_ptr_t sending = ucp_tag_send_nbx(to, nullptr, 0, i, &plain);
        REQUIRE(!UCS_PTR_IS_ERR(sending));
        if (sending != nullptr) ucp_request_free(sending);
    }
    in.settle();
}

// The peer makes its side of the endpoint that requested a connection last.
std::uint64_t reply_to_last(raw_world& in, std::uint64_t peer_ep, std::uint8_t bits = 0) {
    const auto request = in.peer.connection_messages().back();
    REQUIRE(request.type == wireup_type::request);
    const auto type =
        static_cast<wireup_type>(static_cast<std::uint8_t>(wireup_type::reply) | bits);
    in.deliver(type, peer_ep, request.ep);
    return request.ep;
}

void grant_credits(raw_world& in, std::uint64_t ep) {
    in.deliver(wire::credit_grant, wire::credit_header{ep});
}

// Stores more than the limit.
void fill(raw_world& in) {
    for (int i = 0; i < 5; ++i)
        in.peer.send(wire::eager_only, wire::eager_only_header{8}, std::vector<std::byte>(500));
    in.settle();
}

void take_all(raw_world& in) {
    std::vector<std::byte> into(500);
    for (int i = 0; i < 5; ++i) {
        const ucs_status_ptr_t got =
            ucp_tag_recv_nbx(in.worker_handle(), into.data(), into.size(), 8, 8, &plain);
        REQUIRE(got == nullptr);
    }
    in.settle();
}

}  // namespace

TEST_CASE("empty messages beyond the window use rendezvous until the receiver grants credits") {
    raw_world in(small);
    send_empty(in, in.ep_handle(), 3 * in_window);
    const std::size_t stored = count_of(in, wire::eager_only);
    CHECK(stored <= in_window + 2);
    CHECK(stored + count_of(in, wire::rndv_rts) == 3 * in_window);
    CHECK(count_of(in, wire::credit_request) == 1);
    for (const auto& each : in.peer.received<wire::rts_header>(wire::rndv_rts)) {
        CHECK(each.total == 0);
        in.deliver(wire::rndv_ats, wire::ats_header{each.request, UCS_OK, 0, 0});
    }
    CHECK(in.worker->requests().in_use() == 0);
    grant_credits(in, in.ep_id());
    send_empty(in, in.ep_handle(), 1);
    CHECK(count_of(in, wire::eager_only) == stored + 1);
}

TEST_CASE("an empty rendezvous message is received without any data") {
    raw_world in({}, {.reach = uct::scope::host});
    const bool readable = GENERATE(false, true);
    const bool posted = GENERATE(false, true);
    const std::byte data{};
    completion_record received;
    std::byte into[4];
    const auto receive = [&] {
        const ucs_status_ptr_t got =
            ucp_tag_recv_nbx(in.worker_handle(), into, 4, 3, 3, received.on_recv());
        REQUIRE(!UCS_PTR_IS_ERR(got));
    };
    if (posted) receive();
    in.deliver(wire::rndv_rts,
               wire::rts_header{3, 0, in.ep_id(), 9,
                                readable ? reinterpret_cast<std::uint64_t>(&data) : 0, 0});
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).memory().rts_count() == (posted ? 0 : 1));
    if (!posted) receive();
    in.settle();
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).memory().rts_count() == 0);
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).expected_count() == 0);
    const auto replies = in.peer.received<wire::ats_header>(wire::rndv_ats, 1);
    CHECK(replies[0].request == 9);
    CHECK(replies[0].status == UCS_OK);
    CHECK(count_of(in, wire::rndv_rtr) == 0);
}

TEST_CASE("endpoints to one worker share a window, and a grant serves all of them") {
    raw_world in(small);
    const ucp_ep_h other = in.make_ep();
    send_empty(in, other, 1);
    (void)reply_to_last(in, 88);
    for (std::size_t i = 0; i < 2 * in_window; ++i) {
        send_empty(in, in.ep_handle(), 1);
        send_empty(in, other, 1);
    }
    CHECK(count_of(in, wire::eager_only) <= in_window + 2);
    CHECK(count_of(in, wire::credit_request) == 1);
    const auto request = in.peer.received<wire::credit_header>(wire::credit_request).front();
    const std::size_t before = count_of(in, wire::eager_only);
    grant_credits(in, request.ep == raw_world::peer_ep ? in.ep_id() : ucp::capi::from(other).id());
    send_empty(in, in.ep_handle(), 1);
    send_empty(in, other, 1);
    CHECK(count_of(in, wire::eager_only) == before + 2);
}

TEST_CASE(
    "if the endpoint of a credit request ends, the request is repeated over another endpoint") {
    raw_world in(small);
    const ucp_ep_h other = in.make_ep();
    send_empty(in, other, 1);
    const std::uint64_t other_id = reply_to_last(in, 88);
    send_empty(in, in.ep_handle(), 2 * in_window);
    const std::uint64_t gone = in.ep_id();
    REQUIRE(in.peer.received<wire::credit_header>(wire::credit_request).back().ep ==
            raw_world::peer_ep);
    in.close_by_force();
    in.peer_closes();
    REQUIRE(count_of(in, wire::credit_request) == 2);
    CHECK(in.peer.received<wire::credit_header>(wire::credit_request).back().ep == 88);
    const std::size_t before = count_of(in, wire::eager_only);
    grant_credits(in, gone);
    send_empty(in, other, 1);
    CHECK(count_of(in, wire::eager_only) == before);
    grant_credits(in, other_id);
    send_empty(in, other, 1);
    CHECK(count_of(in, wire::eager_only) == before + 1);
}

TEST_CASE("if no endpoint is left, the next endpoint sends the credit request") {
    raw_world in(small);
    const ucp_ep_h other = in.make_ep();
    send_empty(in, other, 1);  // waits for its connection
    send_empty(in, in.ep_handle(), 2 * in_window);
    in.close_by_force();
    in.peer_closes();
    REQUIRE(count_of(in, wire::credit_request) == 1);
    const std::size_t before = count_of(in, wire::eager_only);
    // The connection request is not the last message any more.
    std::uint64_t requesting_ep = 0;
    for (const auto& each : in.peer.connection_messages())
        if (each.type == wireup_type::request) requesting_ep = each.ep;
    in.deliver(wireup_type::reply, 88, requesting_ep);
    CHECK(count_of(in, wire::eager_only) == before);
    REQUIRE(count_of(in, wire::credit_request) == 2);
    grant_credits(in, requesting_ep);
    send_empty(in, other, 1);
    CHECK(count_of(in, wire::eager_only) == before + 1);
}

TEST_CASE(
    "a sender that connects to a worker without credits uses rendezvous until they are granted") {
    raw_world in(small);
    in.close_by_force();
    in.peer_closes();
    const ucp_ep_h again = in.make_ep();
    send_empty(in, again, 3);
    const std::uint64_t id = reply_to_last(in, 88, wire::no_credits);
    CHECK(count_of(in, wire::eager_only) == 0);
    CHECK(count_of(in, wire::rndv_rts) == 3);
    REQUIRE(count_of(in, wire::credit_request) == 1);
    CHECK(in.peer.received<wire::credit_header>(wire::credit_request)[0].ep == 88);
    grant_credits(in, id);
    send_empty(in, again, 3);
    CHECK(count_of(in, wire::eager_only) == 3);
}

TEST_CASE("a worker without credits says so when it connects, and grants credits later") {
    raw_world in(small);
    fill(in);
    REQUIRE(!slot_of<ucp::tag_matcher>(*in.worker).memory().can_grant());
    in.deliver(wireup_type::request, 88, 1);
    const auto replies = in.peer.connection_messages(2);
    CHECK(static_cast<unsigned>(replies[0].type) == static_cast<unsigned>(wireup_type::reply));
    CHECK(static_cast<unsigned>(replies[1].type) ==
          (static_cast<unsigned>(wireup_type::reply) | wire::no_credits));
    in.deliver(wire::credit_request, wire::credit_header{replies[1].ep});
    CHECK(count_of(in, wire::credit_grant) == 0);
    take_all(in);
    REQUIRE(count_of(in, wire::credit_grant) == 1);
    CHECK(in.peer.received<wire::credit_header>(wire::credit_grant)[0].ep == 88);
}

TEST_CASE(
    "a credit request over an endpoint that is closed here is granted: its peer may have others") {
    raw_world in(small);
    in.close_by_force();
    in.deliver(wire::credit_request, wire::credit_header{in.ep_id()});
    CHECK(count_of(in, wire::credit_grant) == 1);
}
