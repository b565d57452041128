// Choosing the lanes to a peer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ucp/address/address.hpp"
#include "uct/api/iface.hpp"

namespace ucp::wireup {

// One opened interface of this worker.
struct local_interface {
    const uct::iface* iface;
    std::string_view transport;
    std::string_view device;
    std::size_t resource;
    ucs_status_t failure;  // by which its lane to this peer was lost before, or UCS_OK
};

struct lane_choice {
    std::size_t resource;
    std::vector<std::byte> address;  // of the remote interface
};

struct lane_selection {
    std::optional<lane_choice> am;   // carries messages; none: unreachable
    std::optional<lane_choice> rma;  // moves memory without the peer's processor
    std::vector<std::string> notes;  // one line per transport: why chosen, why not
};

// Considers every pair of a local interface and an entry of the remote address. Pure.
[[nodiscard]] lane_selection select_lanes(std::span<const local_interface> local,
                                          const address::worker_address& remote);

}  // namespace ucp::wireup
