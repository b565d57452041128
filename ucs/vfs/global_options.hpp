// Options of the process in the object tree.
#pragma once

namespace ucs::vfs {

// Hangs ucs/global_opts into the tree, once for all calls. Any thread.
void show_global_options();

}  // namespace ucs::vfs
