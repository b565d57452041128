// Tests of flushes that cover several sends or endpoints, and of their result when one of these
// fails.
#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/eager/wire.hpp"
#include "ucp/wireup/connection.hpp"

using namespace ucp_test;
namespace wire = ucp::wire;

namespace {

// Closes the endpoint in the callback of its first flush. Records the operations that end, in
// order.
struct closer {
    explicit closer(ucp_ep_h which) : ep(which) {}

    void note(char which, ucs_status_t status) {
        order += which;
        statuses.push_back(status);
    }
    template<char which>
    [[nodiscard]] ucp_request_param_t on_end() {
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.user_data = this;
        param.cb.send = [](void* request, ucs_status_t status, void* arg) {
            closer& self = *static_cast<closer*>(arg);
            self.note(which, status);
            ucp_request_free(request);
            if (which == '1') self.close();
        };
        return param;
    }
    void close() {
        const ucp_request_param_t param = on_end<'c'>();
        const ucs_status_ptr_t closed = ucp_ep_close_nbx(ep, &param);
        if (!UCS_PTR_IS_PTR(closed)) note('c', UCS_PTR_RAW_STATUS(closed));
    }

    const ucp_ep_h ep;
    std::string order;
    std::vector<ucs_status_t> statuses;
};

}  // namespace

TEST_CASE("a worker's flush reports that an endpoint failed meanwhile") {
    // Regression: the flush reported success.
    raw_world in({});
    const std::vector<std::byte> data(100);
    completion_record sent;
    in.send_sync(data, sent);
    completion_record flushed;
    REQUIRE(UCS_PTR_IS_PTR(ucp_worker_flush_nbx(in.worker_handle(), flushed.on_send())));
    in.settle();
    CHECK(flushed.times == 0);
    in.close_by_force();
    in.settle();
    CHECK(sent.status == UCS_ERR_CANCELED);
    CHECK(flushed.times == 1);
    CHECK(flushed.status == UCS_ERR_CANCELED);
}

TEST_CASE("a worker's flush neither waits for earlier failures nor reports them again") {
    raw_world in({});
    ucp::ep_params params;
    params.error_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp::wireup::adopt(in.ep(), params);
    const std::vector<std::byte> data(100);
    completion_record sent;
    in.send_sync(data, sent);
    in.network.kill(in.peer.uid());
    in.settle();
    CHECK(sent.status != UCS_OK);
    REQUIRE(in.worker->endpoints().size() == 1);
    CHECK(ucp_worker_flush_nbx(in.worker_handle(), &plain) == nullptr);
    CHECK(UCS_PTR_IS_ERR(ucp_ep_flush_nbx(in.ep_handle(), &plain)));
}

TEST_CASE("an endpoint that is closed in the callback of a flush ends after the other flushes") {
    // Regression: the close overtook the other flushes. They ended after it, and with
    // UCS_ERR_CONNECTION_RESET if the peer had closed before, although all data that they cover had
    // arrived.
    const bool peer_closes_first = GENERATE(false, true);
    CAPTURE(peer_closes_first);
    raw_world in(settings{{"RNDV_THRESH", "inf"}});
    const std::vector<std::byte> data(100);
    completion_record sent;
    in.send_sync(data, sent);
    closer closing(in.ep_handle());
    const ucp_request_param_t first = closing.on_end<'1'>();
    const ucp_request_param_t second = closing.on_end<'2'>();
    REQUIRE(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(in.ep_handle(), &first)));
    REQUIRE(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(in.ep_handle(), &second)));
    in.settle();
    const auto messages = in.peer.received<wire::eager_first_header>(wire::eager_first, 1);
    if (peer_closes_first) in.peer_closes();
    REQUIRE(closing.order.empty());
    in.deliver(wire::eager_ack, wire::ack_header{messages[0].ack, UCS_OK});
    CHECK(sent.status == UCS_OK);
    CHECK(closing.order == "12c");
    CHECK(closing.statuses == std::vector<ucs_status_t>(3, UCS_OK));
}
