// Closing local sockets that strangers had access to.
#pragma once

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// Closes a Unix socket whose other end is somebody whom this process does not trust, or which
// others may have connected to. Descriptors that he has sent are closed with it, which may take as
// long as he likes: a TCP socket that lingers keeps whoever closes it waiting. So where the socket
// may hold some (see forbid_descriptors) a thread closes it, and the caller goes on. Without memory
// or a thread it is closed here. Any thread.
void close_aside(unique_fd socket) noexcept;

// So many sockets wait to be closed that the caller must not connect to strangers or accept more of
// them for now. One line of the log says so. Any thread.
[[nodiscard]] bool closes_too_many() noexcept;

}  // namespace ucs::sys
