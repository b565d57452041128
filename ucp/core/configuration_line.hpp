// The log's line about an endpoint configuration: which lanes carry what.
#pragma once

namespace ucp {

class peer;

// Writes the line at level info unless an endpoint of this process has had the same lanes before.
// Called when an endpoint is connected, not per message. Owner context.
void tell_configuration(const peer& connected) noexcept;

}  // namespace ucp
