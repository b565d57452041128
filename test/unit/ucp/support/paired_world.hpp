// Two workers on a simulated network with paired lanes, and operations of their programs.
#pragma once

#include <catch2/catch.hpp>

#include "test/support/identities.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"

namespace ucp_test {

// Each worker has its own context with both simulated transports. A run is repeatable by its seed.
struct paired_world {
    paired_world(std::uint64_t seed, const uct::sim::parameters& network_parameters,
                 std::uint64_t features, const settings& options = {})
        : identities(seed), network(seed, network_parameters) {
        for (int i = 0; i < 2; ++i) {
            contexts.push_back(make_context({&by_address, &in_pairs}, options, features));
            workers.push_back(std::move(*ucp::worker::create(*contexts.back(), {})));
            driver.add([worker = workers.back().get()] { return worker->progress(); });
        }
    }

    // Makes an endpoint to the other worker.
    [[nodiscard]] ucp_ep_h connect(std::size_t from) {
        const std::vector<std::byte> address = workers[1 - from]->identity().address(false);
        ucp_ep_params_t params;
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = reinterpret_cast<const ucp_address_t*>(address.data());
        ucp_ep_h made = nullptr;
        REQUIRE(ucp_ep_create(ucp::capi::handle(*workers[from]), &params, &made) == UCS_OK);
        return made;
    }
    static void close(ucp_ep_h endpoint, bool force, completion_record& closed) {
        ucp_request_param_t* const param = closed.on_send();
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param->flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0;
        note(ucp_ep_close_nbx(endpoint, param), closed);
    }
    // Records an operation that completed inside its call.
    static void note(ucs_status_ptr_t result, completion_record& ended) {
        if (UCS_PTR_IS_PTR(result)) return;
        ended.times = 1;
        ended.status = UCS_PTR_RAW_STATUS(result);
    }

    const test::seeded_identities identities;
    uct::sim::fabric network;
    const uct::sim::sim_component by_address{network};
    const uct::sim::paired_component in_pairs{network};
    std::vector<std::unique_ptr<ucp::context>> contexts;
    std::vector<std::unique_ptr<ucp::worker>> workers;
    uct::sim::driver driver{network};
};

}  // namespace ucp_test
