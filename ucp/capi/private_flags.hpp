// Endpoint flags that the layers above ucp use in addition to the public interface.
#pragma once

namespace ucp::capi {

// In ucp_ep_params_t::flags: this endpoint has a connection of its own. It takes over no connection
// that the peer has made, and no endpoint of the peer's program becomes its other end. Other
// endpoints between the two workers do not affect it, even if the peer closes them.
inline constexpr unsigned ep_flag_apart = 1U << 31;

}  // namespace ucp::capi
