// Binds that no client asked for.
#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"

using namespace ucp_test;
namespace wire = ucp::wire;

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
