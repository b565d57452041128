// Shows options of the process in the object tree.
#pragma once

namespace ucs::vfs {

// Adds ucs/global_opts to the tree; later calls do nothing. Any thread.
void show_global_options();

}  // namespace ucs::vfs
