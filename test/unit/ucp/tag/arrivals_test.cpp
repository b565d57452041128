// What the matcher does with messages of a peer that is wrong, late, or half gone.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

const settings eager{{"RNDV_THRESH", "inf"}};
const settings announced{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}};

}  // namespace

TEST_CASE("an acknowledgement that names an announced send is rejected, and the send goes on") {
    // It took the send's id away, so that its end never came.
    raw_world in(announced);
    const std::vector<std::byte> data(100);
    told sent;
    in.send_sync(data, sent);
    in.settle();
    const auto announcements = in.peer.received<wire::rts_header>(wire::rndv_rts);
    REQUIRE(announcements.size() == 1);
    const test::log_capture log;
    in.peer.send(wire::eager_ack, wire::ack_header{announcements[0].request, UCS_OK});
    in.settle();
    CHECK(log.count("does not wait for one", ucs::log::level::warn) == 1);
    CHECK(sent.times == 0);
    in.peer.send(wire::rndv_ats, wire::ats_header{announcements[0].request, UCS_OK, 0, 0});
    in.settle();
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_OK);
}

TEST_CASE("a synchronous send ends with the status of its acknowledgement") {
    raw_world in(eager);
    const std::vector<std::byte> data(100);
    told sent;
    in.send_sync(data, sent);
    in.settle();
    const auto first = in.peer.received<wire::eager_first_header>(wire::eager_first);
    REQUIRE(first.size() == 1);
    CHECK(sent.times == 0);
    in.peer.send(wire::eager_ack, wire::ack_header{first[0].ack, UCS_ERR_CONNECTION_RESET});
    in.settle();
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("a half synchronous message of an endpoint that is closed by force was not delivered") {
    // It was acknowledged as if it had been.
    raw_world in(eager);
    in.peer.send(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id(), 1, 5},
                 std::vector<std::byte>(10));
    in.settle();
    REQUIRE(in.worker->matcher().unexpected_count() == 1);
    in.close_by_force();
    in.settle();
    const auto answers = in.peer.received<wire::ack_header>(wire::eager_ack);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].request == 5);
    CHECK(answers[0].status == UCS_ERR_CONNECTION_RESET);
    CHECK(in.worker->matcher().unexpected_count() == 0);
}

TEST_CASE("what comes half or announced after an endpoint was closed takes no receive") {
    // The receive waited for ever for the rest of a message that nobody would send.
    raw_world in(eager);
    std::vector<std::byte> into(100);
    told received;
    in.post_receive(into, received);
    in.close_by_force();
    in.peer.send(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id(), 1, 5},
                 std::vector<std::byte>(10));
    in.peer.send(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id() + 99, 1, 0},
                 std::vector<std::byte>(10));
    in.peer.send(wire::rndv_rts, wire::rts_header{1, 100, in.ep_id(), 6, 0, 0});
    in.settle();
    CHECK(in.worker->matcher().expected_count() == 1);
    CHECK(in.worker->assemblies().count() == 0);
    const auto answers = in.peer.received<wire::ack_header>(wire::eager_ack);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == UCS_ERR_CONNECTION_RESET);
    const auto refused = in.peer.received<wire::ats_header>(wire::rndv_ats);
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].request == 6);
    CHECK(refused[0].status == UCS_ERR_CONNECTION_RESET);
    in.peer.send(wire::eager_only, wire::eager_only_header{1}, std::vector<std::byte>(3));
    in.settle();
    CHECK(received.status == UCS_OK);
}

TEST_CASE("the names of requests tell nothing of each other, so no other peer can use them") {
    std::vector<told> sent(3);
    raw_world in({});
    for (told& each : sent)
        in.send_sync(std::vector<std::byte>(8), each);
    in.settle();
    const auto asked = in.peer.received<wire::eager_first_header>(wire::eager_first);
    REQUIRE(asked.size() == 3);
    CHECK(asked[1].ack - asked[0].ack != asked[2].ack - asked[1].ack);
    CHECK(asked[1].ack >> 24 != asked[0].ack >> 24);
    // Neighbours of a name that is known.
    for (std::uint64_t near = 1; near < 100; ++near) {
        in.peer.send(wire::eager_ack, wire::ack_header{asked[0].ack + near, UCS_OK});
        in.settle();
    }
    for (const told& each : sent)
        CHECK(each.times == 0);
}
