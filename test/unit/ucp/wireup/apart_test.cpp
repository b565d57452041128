// Tests of endpoints with a private connection, which are never paired with an endpoint that the
// peer's program made.

#include "test/unit/ucp/support/paired_world.hpp"
#include "ucp/capi/private_flags.hpp"

using namespace ucp_test;

namespace {

struct error_count {
    unsigned errors = 0;
};

ucp_ep_h connect(paired_world& in, std::size_t from, unsigned flags, error_count& counted) {
    const std::vector<std::byte> address = in.workers[1 - from]->identity().address(false);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_FLAGS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {
        [](void* arg, ucp_ep_h, ucs_status_t) { ++static_cast<error_count*>(arg)->errors; },
        &counted};
    params.flags = flags;
    ucp_ep_h made = nullptr;
    REQUIRE(ucp_ep_create(ucp::capi::handle(*in.workers[from]), &params, &made) == UCS_OK);
    return made;
}

// Sends a message from one worker to the other. Returns whether it arrived.
bool deliver(paired_world& in, std::size_t from, ucp_ep_h over) {
    const char sent = 'x';
    char seen = 0;
    completion_record out, back;
    paired_world::note(ucp_tag_send_nbx(over, &sent, 1, 5, out.on_send()), out);
    paired_world::note(ucp_tag_recv_nbx(ucp::capi::handle(*in.workers[1 - from]), &seen, 1, 5,
                                        ~ucp_tag_t{0}, back.on_recv()),
                       back);
    return in.driver.run_until([&] { return out.times + back.times == 2; }) &&
           out.status == UCS_OK && back.status == UCS_OK && seen == sent;
}

}  // namespace

TEST_CASE("an endpoint with a private connection does not end with those of the peer's program") {
    const bool apart = GENERATE(false, true);
    const bool crossing = GENERATE(false, true);
    CAPTURE(apart, crossing);
    const unsigned flags = apart ? ucp::capi::ep_flag_apart : 0;
    paired_world in(3, {}, UCP_FEATURE_TAG);
    error_count first_errors, second_errors;
    // The peer's endpoint is made while ours waits for its reply, or when ours is connected.
    const ucp_ep_h first = connect(in, 0, flags, first_errors);
    ucp_ep_h second = nullptr;
    if (crossing) second = connect(in, 1, flags, second_errors);
    CHECK(deliver(in, 0, first));
    if (!crossing) second = connect(in, 1, flags, second_errors);
    CHECK(deliver(in, 1, second));
    completion_record closed;
    paired_world::close(second, false, closed);
    REQUIRE(in.driver.run_until_quiet());
    CHECK(first_errors.errors == (apart ? 0 : 1));
    if (apart) CHECK(deliver(in, 0, first));
    completion_record last;
    paired_world::close(first, true, last);
    REQUIRE(in.driver.run_until_quiet());
    for (const auto& each : in.workers)
        CHECK(each->endpoints().size() == 0);
}
