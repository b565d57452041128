// Which peers are looked after.
#include <catch2/catch.hpp>

#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "uct/tcp/tcp.hpp"

namespace {

std::unique_ptr<ucp::context> make_context() {
    const uct::component* const all[] = {&uct::tcp_component()};
    ucs::config::source source = ucs::config::source::empty();
    source.set("HOST_PROBE", "n");
    source.set("NET_DEVICES", "lo");
    ucp::context_params params;
    params.features = UCP_FEATURE_TAG;
    return std::move(*ucp::context::create(params, std::move(source), all));
}

}  // namespace

TEST_CASE("a peer that connected first is looked after as well") {
    const auto context = make_context();
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
