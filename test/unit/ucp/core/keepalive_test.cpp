// Tests of which peers the keepalive watches.
#include <catch2/catch.hpp>

#include "test/support/virtual_time.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucs/vfs/walk.hpp"
#include "uct/base/builtin.hpp"

using namespace ucp_test;

namespace {

const settings over_lo{{"NET_DEVICES", "lo"}};

}  // namespace

TEST_CASE("the keepalive also watches a peer that connected first") {
    const auto context = make_context({&uct::tcp_component()}, over_lo);
    const auto worker = make_worker(*context);
    const auto peer_worker = make_worker(*context);
    ucp::ep_params params;
    params.error_mode = GENERATE(UCP_ERR_HANDLING_MODE_PEER, UCP_ERR_HANDLING_MODE_NONE);
    ucp::ep* const our_ep =
        *ucp::wireup::create_ep(*worker, peer_worker->identity().address(false).data(), params);
    ucp::ep* const their_ep =
        *ucp::wireup::create_ep(*peer_worker, worker->identity().address(false).data(), {});
    CHECK_FALSE(our_ep->remote().watched_hook.is_linked());
    ucp::wireup::handle(*their_ep, ucp::wireup::event::use);
    while (ucp::wireup::state_of(*our_ep) != ucp::wireup::state::ready) {
        worker->progress();
        peer_worker->progress();
    }
    CHECK(our_ep->remote().watched_hook.is_linked() ==
          (params.error_mode == UCP_ERR_HANDLING_MODE_PEER));
}

TEST_CASE("the keepalive watches a peer as soon as its lane needs that") {
    uct::sim::fabric network(1);
    const uct::sim::sim_component sim(network);
    const auto context = make_context({&sim, &uct::tcp_component()}, over_lo);
    const auto worker = make_worker(*context);
    const auto peer_worker = make_worker(*context);
    ucp::ep_params params;
    params.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp::ep* const our_ep =
        *ucp::wireup::create_ep(*worker, peer_worker->identity().address(false).data(), params);
    const ucp::peer& remote = our_ep->remote();
    ucp::wireup::handle(*our_ep, ucp::wireup::event::use);
    REQUIRE(ucp::wireup::lanes_in_use(remote).front().where->transport == std::string("sim"));
    CHECK_FALSE(remote.watched_hook.is_linked());
    // The peer does not answer: no message has come over the other lane.
    network.fail_after(*network.find_node(worker->uid()), *network.find_node(peer_worker->uid()),
                       1);
    network.advance(1'000'000);
    while (ucp::wireup::lanes_in_use(remote).front().where->transport == std::string("sim"))
        REQUIRE(worker->progress() > 0);
    CHECK(ucp::wireup::lanes_in_use(remote).front().where->transport == std::string("tcp"));
    CHECK(ucp::wireup::state_of(*our_ep) == ucp::wireup::state::requested);
    CHECK(remote.watched_hook.is_linked());
}

TEST_CASE("the object tree shows how many peers the keepalive watches, and for how long") {
    const test::virtual_time clock;
    const auto context = make_context({&uct::tcp_component()}, over_lo);
    const auto worker = make_worker(*context);
    const auto peer_worker = make_worker(*context);
    const auto shown = [&](const char* name) {
        const auto got = ucs::vfs::answer_below(
            *worker, {ucs::vfs::verb::read, std::string("keepalive/") + name, {}});
        REQUIRE(got.status == UCS_OK);
        return std::stoul(got.text);
    };
    ucp::ep_params params;
    params.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp::ep* const our_ep =
        *ucp::wireup::create_ep(*worker, peer_worker->identity().address(false).data(), params);
    ucp::wireup::handle(*our_ep, ucp::wireup::event::use);
    while (ucp::wireup::state_of(*our_ep) != ucp::wireup::state::ready) {
        worker->progress();
        peer_worker->progress();
    }
    CHECK(shown("ep_count") == 0);
    CHECK(shown("round_count") == 0);
    // There are four checks per interval of 20 s.
    unsigned steps = 0;
    while (steps < 100 && shown("round_count") < 2) {
        test::virtual_time::now += 5 * ucs::time::second;
        worker->schedule().look_everywhere();
        for (unsigned turn = 0; turn < 1000; ++turn) {
            worker->progress();
            peer_worker->progress();
        }
        ++steps;
        CHECK(shown("ep_count") <= 1);
    }
    CHECK(shown("ep_count") == 1);
    CHECK(shown("round_count") == 2);
    CHECK(steps >= 8);
}
