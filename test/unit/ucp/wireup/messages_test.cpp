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

TEST_CASE("a request for another worker is refused in that worker's name, which the asker knows") {
    // The answer used to come in the own name: the asker dropped it and waited for ever.
    raw_world in({});
    const std::uint64_t asked = in.worker->uid() + 1;
    in.peer.send(wire::wireup,
                 wire::wireup_header{wire::wireup_type::request, {}, in.peer.uid(), asked, 66, 1},
                 in.peer.address());
    in.settle();
    const auto answers = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 2);
    CHECK(answers[1].type == wire::wireup_type::refuse);
    CHECK(answers[1].uid == asked);
    CHECK(answers[1].peer_ep_or_number == 66);
    CHECK(in.worker->endpoint_count() == 1);
}

TEST_CASE("a send to a worker that is not there any more fails when it is refused") {
    raw_world in({});
    in.close_by_force();
    ucp_ep_params_t params{};
    const std::vector<std::byte> address = in.peer.address();
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucp_ep_h ep = nullptr;
    REQUIRE(ucp_ep_create(in.worker_handle(), &params, &ep) == UCS_OK);
    told sent;
    const ucp_request_param_t param = sent.on_send();
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, "x", 1, 1, &param)));
    in.settle();
    const auto asked = in.peer.received<wire::wireup_header>(wire::wireup);
    REQUIRE(asked.back().type == wire::wireup_type::request);
    in.peer.send(wire::wireup, wire::wireup_header{wire::wireup_type::refuse,
                                                   {},
                                                   asked.back().peer_uid,
                                                   in.worker->uid(),
                                                   0,
                                                   asked.back().ep});
    in.settle();
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_ERR_UNREACHABLE);
}
