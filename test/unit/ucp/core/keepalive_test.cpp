// Which peers are looked after.
#include <catch2/catch.hpp>

#include "test/support/virtual_time.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "ucs/vfs/walk.hpp"
#include "uct/sim/component.hpp"
#include "uct/tcp/tcp.hpp"

namespace {

std::unique_ptr<ucp::context> make_context(const std::vector<const uct::component*>& all) {
    ucs::config::source source = ucs::config::source::empty();
    source.set("HOST_PROBE", "n");
    source.set("NET_DEVICES", "lo");
    ucp::context_params params;
    params.features = UCP_FEATURE_TAG;
    return std::move(*ucp::context::create(params, std::move(source), all));
}

}  // namespace

TEST_CASE("a peer that connected first is looked after as well") {
    const auto context = make_context({&uct::tcp_component()});
    const auto ours = std::move(*ucp::worker::create(*context, {}));
    const auto theirs = std::move(*ucp::worker::create(*context, {}));
    ucp::ep_params wanted;
    wanted.error_mode = GENERATE(UCP_ERR_HANDLING_MODE_PEER, UCP_ERR_HANDLING_MODE_NONE);
    ucp::ep* const mine = *ours->create_ep(theirs->address(false).data(), wanted);
    ucp::ep* const other = *theirs->create_ep(ours->address(false).data(), {});
    CHECK_FALSE(mine->remote().watched_hook.is_linked());
    other->handle(ucp::wireup::event::use);
    while (mine->connection() != ucp::wireup::state::ready) {
        ours->progress();
        theirs->progress();
    }
    CHECK(mine->remote().watched_hook.is_linked() ==
          (wanted.error_mode == UCP_ERR_HANDLING_MODE_PEER));
}

TEST_CASE("a peer is looked after from when its lane is one that has to be") {
    uct::sim::fabric network(1);
    const uct::sim::sim_component sim(network);
    const auto context = make_context({&sim, &uct::tcp_component()});
    const auto ours = std::move(*ucp::worker::create(*context, {}));
    const auto theirs = std::move(*ucp::worker::create(*context, {}));
    ucp::ep_params wanted;
    wanted.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp::ep* const mine = *ours->create_ep(theirs->address(false).data(), wanted);
    const ucp::peer& remote = mine->remote();
    mine->handle(ucp::wireup::event::use);
    REQUIRE(remote.lane_names().front().transport == std::string("sim"));
    CHECK_FALSE(remote.watched_hook.is_linked());
    // The peer does not answer: the other lane is not one that an answer came over.
    network.fail_after(*network.find_node(ours->uid()), *network.find_node(theirs->uid()), 1);
    network.advance(1'000'000);
    while (remote.lane_names().front().transport == std::string("sim"))
        REQUIRE(ours->progress() > 0);
    CHECK(remote.lane_names().front().transport == std::string("tcp"));
    CHECK(mine->connection() == ucp::wireup::state::requested);
    CHECK(remote.watched_hook.is_linked());
}

TEST_CASE("the object tree shows how many peers are looked after, and for how long") {
    const test::virtual_time clock;
    const auto context = make_context({&uct::tcp_component()});
    const auto ours = std::move(*ucp::worker::create(*context, {}));
    const auto theirs = std::move(*ucp::worker::create(*context, {}));
    const auto shown = [&](const char* name) {
        const auto got = ucs::vfs::answer_below(
            *ours, {ucs::vfs::verb::read, std::string("keepalive/") + name, {}});
        REQUIRE(got.status == UCS_OK);
        return std::stoul(got.text);
    };
    ucp::ep_params wanted;
    wanted.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp::ep* const mine = *ours->create_ep(theirs->address(false).data(), wanted);
    mine->handle(ucp::wireup::event::use);
    while (mine->connection() != ucp::wireup::state::ready) {
        ours->progress();
        theirs->progress();
    }
    CHECK(shown("ep_count") == 0);
    CHECK(shown("round_count") == 0);
    // Four looks in the interval, of 20 s.
    unsigned steps = 0;
    while (steps < 100 && shown("round_count") < 2) {
        test::virtual_time::now += 5 * ucs::time::second;
        ours->look_everywhere();
        for (unsigned turn = 0; turn < 1000; ++turn) {
            ours->progress();
            theirs->progress();
        }
        ++steps;
        CHECK(shown("ep_count") <= 1);
    }
    CHECK(shown("ep_count") == 1);
    CHECK(shown("round_count") == 2);
    CHECK(steps >= 8);
}
