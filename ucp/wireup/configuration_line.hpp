// Logs an endpoint's configuration: which lanes carry which traffic.
#pragma once

namespace ucp {
class peer;
}

namespace ucp::wireup {

// Writes the line at level info unless an endpoint of this process has had the same lanes before.
// Called when an endpoint is connected, not per message. Owner context.
void log_configuration_once(peer& connected) noexcept;

}  // namespace ucp::wireup
