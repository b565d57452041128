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
    ucs_status_t failure;        // by which its lane to this peer was lost before, or UCS_OK
    bool only_connects = false;  // opened for connection data alone
    double detour = 0;           // seconds, see ucp/wireup/detour.hpp
};

// Flag of an address: its interfaces on the network whose endpoints do not come in pairs are there
// for connection data alone.
inline constexpr std::uint32_t network_only_connects = 1U << 0;

// Whether a lane may come in a pair with one of the peer's, for which they have to be connected.
enum class pairs : std::uint8_t { allowed, excluded };

struct lane_choice {
    std::size_t resource;
    std::vector<std::byte> address;  // of the remote interface
};

struct lane_selection {
    std::optional<lane_choice> am;        // carries messages; none: unreachable
    std::optional<lane_choice> rma;       // moves memory without the peer's processor; may be am's
    std::vector<lane_choice> more_rails;  // other devices that move memory as am's does
    // Carries connection data to the peer; none: no transport does without.
    std::optional<lane_choice> bootstrap;
    bool paired = false;             // am has to be connected first, over bootstrap
    std::vector<std::string> notes;  // one line per transport: why chosen, why not
};

// Considers every pair of a local interface and an entry of the remote address. Pure.
// `most_rails`: devices that move memory at once, am's included.
[[nodiscard]] lane_selection select_lanes(std::span<const local_interface> local,
                                          const address::worker_address& remote,
                                          pairs which = pairs::allowed, std::size_t most_rails = 1);

}  // namespace ucp::wireup
