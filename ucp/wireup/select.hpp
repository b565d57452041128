// Lane selection: chooses the transports by which a peer is reached.
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
    ucs_status_t failure;        // why its lane to this peer was lost before, or UCS_OK
    bool only_connects = false;  // opened for connection data only
    double extra_latency = 0;    // seconds, see ucp/core/distance.hpp
};

// Allows or excludes paired lanes, which require an exchange of connection data.
enum class pairs : std::uint8_t { allowed, excluded };

struct lane_choice {
    std::size_t resource;
    std::vector<std::byte> address;  // of the remote interface
};

struct lane_selection {
    std::optional<lane_choice> am;   // carries messages; none: unreachable
    std::optional<lane_choice> rma;  // accesses memory without the peer's processor; may equal `am`
    std::optional<lane_choice> device;  // accesses memory of the peer's devices; none: no lane does
    std::vector<lane_choice> more_rails;  // other devices that access memory as am's device does
    // Carries connection data to the peer. None: every transport needs connection data.
    std::optional<lane_choice> bootstrap;
    bool paired = false;             // `am` has to be connected first, over `bootstrap`
    std::vector<std::string> notes;  // one line per transport: the reason why it was chosen or not
};

// Considers every pair of a local interface and an entry of the remote address. Pure. `most_rails`:
// number of devices that access memory in parallel, am's included.
[[nodiscard]] lane_selection select_lanes(std::span<const local_interface> local,
                                          const address::worker_address& remote,
                                          pairs allowed_pairs = pairs::allowed,
                                          std::size_t most_rails = 1);

}  // namespace ucp::wireup
