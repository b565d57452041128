// Showing the tree to ucx_vfs: once per process.
#pragma once

#include <string>

#include "ucs/type/unique_fd.hpp"

// Each of a process's entrances hands in who calls; the first one is served by a thread that
// exists as long as the connection. Any thread.
namespace ucs::vfs::service {

void enter() noexcept;
// The last one ends the thread, and with it the mount.
void leave() noexcept;

// The daemon has connected. One who comes while another is served is turned away.
void attach(unique_fd connection, std::string module_folder);
[[nodiscard]] bool serving() noexcept;

}  // namespace ucs::vfs::service
