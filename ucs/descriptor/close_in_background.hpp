// Closes Unix sockets that untrusted processes had access to, without blocking the caller.
#pragma once

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// Closes a Unix socket whose peer is untrusted, or to which untrusted processes may have connected.
// Closing it also closes the descriptors that the peer has sent, and the peer controls how long
// that takes: close() of a TCP socket that lingers blocks. So if the socket may hold descriptors
// (see forbid_descriptors), a background thread closes it. Without memory or a thread this call
// closes it. Any thread.
void close_in_background(unique_fd socket) noexcept;

// Returns true while too many sockets wait to be closed: the caller must not connect to untrusted
// processes or accept their connections for now. Logs one line about it. Any thread.
[[nodiscard]] bool has_too_many_pending_closes() noexcept;

}  // namespace ucs::sys
