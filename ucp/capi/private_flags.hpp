// What the layers above ask of ucp that its public interface has no word for.
#pragma once

namespace ucp::capi {

// In ucp_ep_params_t::flags: this endpoint is one end of a connection of its own. It takes over
// none that the peer has made, and at the peer no endpoint of the program becomes its other end:
// what becomes of any other endpoint between the two workers, the peer's closing it included, does
// not concern this one.
inline constexpr unsigned ep_flag_apart = 1U << 31;

}  // namespace ucp::capi
