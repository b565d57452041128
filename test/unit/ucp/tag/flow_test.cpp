// A sender and a receiver that has no room, each with a peer that is played by hand.
#include "ucp/tag/flow.hpp"

#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

constexpr std::size_t cost = ucp::eager_budget::message_cost;
constexpr std::size_t in_window = 20;  // empty messages
const settings small{{"UNEXPECTED_WINDOW", std::to_string(in_window* cost)},
                     {"UNEXPECTED_LIMIT", "1000"}};

std::size_t count_of(const raw_world& in, wire::id id) {
    return in.peer.received<std::byte>(id).size();
}

// Sends that need not end.
void send_empty(raw_world& in, ucp_ep_h to, std::size_t count) {
    const ucp_request_param_t plain{};
    for (std::size_t i = 0; i < count; ++i) {
        const ucs_status_ptr_t sending = ucp_tag_send_nbx(to, nullptr, 0, i, &plain);
        REQUIRE(!UCS_PTR_IS_ERR(sending));
        if (sending != nullptr) ucp_request_free(sending);
    }
    in.settle();
}

void answer(raw_world& in, std::uint64_t ep) {
    in.peer.send(wire::room_answer, wire::room_header{ep});
    in.settle();
}

}  // namespace

TEST_CASE("empty messages beyond the window are announced until the receiver answers") {
    raw_world in(small);
    send_empty(in, in.ep_handle(), 3 * in_window);
    const std::size_t stored = count_of(in, wire::eager_only);
    CHECK(stored <= in_window + 2);
    CHECK(stored + count_of(in, wire::rndv_rts) == 3 * in_window);
    CHECK(count_of(in, wire::room_question) == 1);
    for (const auto& each : in.peer.received<wire::rts_header>(wire::rndv_rts)) {
        CHECK(each.total == 0);
        in.peer.send(wire::rndv_ats, wire::ats_header{each.request, UCS_OK, 0, 0});
        in.settle();
    }
    CHECK(in.worker->requests().in_use() == 0);
    answer(in, in.ep_id());
    send_empty(in, in.ep_handle(), 1);
    CHECK(count_of(in, wire::eager_only) == stored + 1);
}

TEST_CASE("an announced empty message is received without any data") {
    uct::sim::parameters network;
    network.reach = uct::scope::host;
    raw_world in({}, network);
    const bool readable = GENERATE(false, true);
    const bool posted = GENERATE(false, true);
    const std::byte there{};
    told received;
    const ucp_request_param_t param = received.on_recv();
    std::byte into[4];
    const auto receive = [&] {
        const ucs_status_ptr_t got = ucp_tag_recv_nbx(in.worker_handle(), into, 4, 3, 3, &param);
        REQUIRE(!UCS_PTR_IS_ERR(got));
    };
    if (posted) receive();
    in.peer.send(wire::rndv_rts,
                 wire::rts_header{3, 0, in.ep_id(), 9,
                                  readable ? reinterpret_cast<std::uint64_t>(&there) : 0, 0});
    in.settle();
    if (!posted) receive();
    in.settle();
    CHECK(in.worker->matcher().expected_count() == 0);
    const auto answers = in.peer.received<wire::ats_header>(wire::rndv_ats);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].request == 9);
    CHECK(answers[0].status == UCS_OK);
    CHECK(count_of(in, wire::rndv_rtr) == 0);
}
