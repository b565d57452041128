// The process-wide service that shows the object tree to ucx_vfs.
#pragma once

#include <string>

#include "ucs/type/unique_fd.hpp"

// Each listening socket of the process passes its connections to this service. A thread serves the
// first connection, and exists as long as the connection. Any thread.
namespace ucs::vfs::service {

void enter() noexcept;
// The last call ends the thread, and with it the mount.
void leave() noexcept;

// Takes a connection of the daemon. Closes it if another connection is being served.
void attach(unique_fd connection, std::string module_folder);
[[nodiscard]] bool serving() noexcept;

}  // namespace ucs::vfs::service
