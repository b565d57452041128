// Explains the choice of lanes and protocols to a peer: one text for the log, the print functions
// and the object tree.
#pragma once

#include <string>
#include <vector>

#include "ucp/core/peer.hpp"
#include "ucp/wireup/select.hpp"

namespace ucp::wireup {

// The lanes in use, for display. Valid until the next progress; names point into the context.
struct lane_in_use {
    std::size_t index;
    const uct::resource* where;
    std::size_t resource;
    const char* role;
    const uct::ep* endpoint;
};
[[nodiscard]] std::vector<lane_in_use> lanes_in_use(const peer& to);

// Returns one line per transport of this process, including those that could not be opened.
[[nodiscard]] std::vector<std::string> explain_each(peer& to, const lane_selection& chosen);

// Text for display: the lanes with their traffic; for each transport why it was chosen or not; the
// protocol of each size. `explain` returns all of it.
[[nodiscard]] std::string explain_lanes(const peer& to);
[[nodiscard]] std::string explain_transports(peer& to);
// Returns the text about the transports as one line for the log.
[[nodiscard]] std::string list_transports(peer& to);
[[nodiscard]] std::string explain_protocols(peer& to);
[[nodiscard]] std::string explain(peer& to);
// Returns the text of ucp_ep_print_info, and the endpoint's line in the text about its worker.
[[nodiscard]] std::string explain(const ep& endpoint);
[[nodiscard]] std::string line_of(const ep& endpoint);

// Logs at level info which lanes carry which traffic, unless an endpoint of this process has had
// the same lanes before. Called when an endpoint is connected, not per message. Owner context.
void log_configuration_once(const peer& connected) noexcept;

}  // namespace ucp::wireup
