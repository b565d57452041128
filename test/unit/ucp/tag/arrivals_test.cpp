// Tagged messages of a peer that sends wrong, late or incomplete messages.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/tag/matcher.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

const settings eager{{"RNDV_THRESH", "inf"}};
const settings rendezvous_by_am{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}};

}  // namespace

TEST_CASE("an acknowledgement that names a rendezvous send is rejected, and the send goes on") {
    // In an earlier version, it removed the send's id, and the send never ended.
    raw_world in(rendezvous_by_am);
    const std::vector<std::byte> data(100);
    completion_record sent;
    in.send_sync(data, sent);
    in.settle();
    const auto rts = in.peer.received<wire::rts_header>(wire::rndv_rts, 1);
    const test::log_capture log;
    in.deliver(wire::eager_ack, wire::ack_header{rts[0].request, UCS_OK});
    CHECK(log.count("does not wait for one", ucs::log::level::warn) == 1);
    CHECK(sent.times == 0);
    in.deliver(wire::rndv_ats, wire::ats_header{rts[0].request, UCS_OK, 0, 0});
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_OK);
}

TEST_CASE("a synchronous send ends with the status of its acknowledgement") {
    raw_world in(eager);
    const std::vector<std::byte> data(100);
    completion_record sent;
    in.send_sync(data, sent);
    in.settle();
    const auto first = in.peer.received<wire::eager_first_header>(wire::eager_first, 1);
    CHECK(sent.times == 0);
    in.deliver(wire::eager_ack, wire::ack_header{first[0].ack, UCS_ERR_CONNECTION_RESET});
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE(
    "a synchronous message that is incomplete when its endpoint is closed by force is not "
    "acknowledged as delivered") {
    // In an earlier version, it was acknowledged as delivered.
    raw_world in(eager);
    in.deliver(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id(), 1, 5},
               std::vector<std::byte>(10));
    REQUIRE(slot_of<ucp::tag_matcher>(*in.worker).unexpected_count() == 1);
    in.close_by_force();
    in.settle();
    const auto replies = in.peer.received<wire::ack_header>(wire::eager_ack, 1);
    CHECK(replies[0].request == 5);
    CHECK(replies[0].status == UCS_ERR_CONNECTION_RESET);
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).unexpected_count() == 0);
}

TEST_CASE(
    "an incomplete message or RTS that arrives after its endpoint was closed takes no receive") {
    // In an earlier version, the receive waited for ever for the rest of a message.
    raw_world in(eager);
    std::vector<std::byte> into(100);
    completion_record received;
    in.post_receive(into, received);
    in.close_by_force();
    in.peer.send(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id(), 1, 5},
                 std::vector<std::byte>(10));
    in.peer.send(wire::eager_first, wire::eager_first_header{1, 100, in.ep_id() + 99, 1, 0},
                 std::vector<std::byte>(10));
    in.deliver(wire::rndv_rts, wire::rts_header{1, 100, in.ep_id(), 6, 0, 0});
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).expected_count() == 1);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 0);
    const auto replies = in.peer.received<wire::ack_header>(wire::eager_ack, 1);
    CHECK(replies[0].status == UCS_ERR_CONNECTION_RESET);
    const auto refused = in.peer.received<wire::ats_header>(wire::rndv_ats, 1);
    CHECK(refused[0].request == 6);
    CHECK(refused[0].status == UCS_ERR_CONNECTION_RESET);
    in.deliver(wire::eager_only, wire::eager_only_header{1}, std::vector<std::byte>(3));
    CHECK(received.status == UCS_OK);
}

TEST_CASE("request ids are unpredictable, so that another peer cannot use them") {
    std::vector<completion_record> sent(3);
    raw_world in({});
    for (completion_record& each : sent)
        in.send_sync(std::vector<std::byte>(8), each);
    in.settle();
    const auto first = in.peer.received<wire::eager_first_header>(wire::eager_first, 3);
    CHECK(first[1].ack - first[0].ack != first[2].ack - first[1].ack);
    CHECK(first[1].ack >> 24 != first[0].ack >> 24);
    // Numbers close to a known id.
    for (std::uint64_t near = 1; near < 100; ++near) {
        in.deliver(wire::eager_ack, wire::ack_header{first[0].ack + near, UCS_OK});
    }
    for (const completion_record& each : sent)
        CHECK(each.times == 0);
}
