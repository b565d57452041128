// Flushes that cover several sends or endpoints, and how they end when one of them fails.
#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"

using namespace ucp_test;

TEST_CASE("a worker's flush reports that an endpoint failed meanwhile") {
    // It reported success.
    raw_world in({});
    const std::vector<std::byte> data(100);
    told sent;
    in.send_sync(data, sent);
    told flushed;
    const ucp_request_param_t param = flushed.on_send();
    REQUIRE(UCS_PTR_IS_PTR(ucp_worker_flush_nbx(in.worker_handle(), &param)));
    in.settle();
    CHECK(flushed.times == 0);
    in.close_by_force();
    in.settle();
    CHECK(sent.status == UCS_ERR_CANCELED);
    CHECK(flushed.times == 1);
    CHECK(flushed.status == UCS_ERR_CANCELED);
}

TEST_CASE("a worker's flush does not wait for what failed before, nor report it again") {
    raw_world in({});
    ucp::ep_params how;
    how.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    in.ep().adopt(how);
    const std::vector<std::byte> data(100);
    told sent;
    in.send_sync(data, sent);
    in.network.kill(in.peer.uid());
    in.settle();
    CHECK(sent.status != UCS_OK);
    REQUIRE(in.worker->endpoint_count() == 1);
    const ucp_request_param_t none{};
    CHECK(ucp_worker_flush_nbx(in.worker_handle(), &none) == nullptr);
    CHECK(UCS_PTR_IS_ERR(ucp_ep_flush_nbx(in.ep_handle(), &none)));
}
