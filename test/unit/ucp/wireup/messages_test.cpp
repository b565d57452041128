// Connection messages that come when their endpoint is gone.
#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

}  // namespace

TEST_CASE("a reply to an endpoint that is gone is refused, so that its other half does not stay") {
    // The request had outlived its connection; the endpoint that it made waited for ever.
    raw_world in({});
    in.peer.send(
        wire::wireup,
        wire::wireup_header{
            wire::wireup_type::reply, {}, in.peer.uid(), in.worker->uid(), 55, in.ep_id() + 99},
        in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].peer_ep_or_number == 55);
}

TEST_CASE("an endpoint that the peer's request made ends when the peer refuses the reply") {
    raw_world in({});
    in.peer.send(
        wire::wireup,
        wire::wireup_header{wire::wireup_type::request, {}, in.peer.uid(), in.worker->uid(), 88, 1},
        in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 2);
    REQUIRE(in.worker->endpoint_count() == 2);
    in.peer.send(
        wire::wireup,
        wire::wireup_header{
            wire::wireup_type::refuse, {}, in.peer.uid(), in.worker->uid(), 0, answers[1].ep});
    in.settle();
    CHECK(in.worker->endpoint_count() == 1);
}
