// The interface between the library and its loadable module fuse.so.
#pragma once

#include "ucs/sys/module.hpp"
#include "ucs/vfs/query.hpp"

namespace ucs::vfs {

// Serves the tree through a descriptor of /dev/fuse that the daemon has mounted.
struct fuse_module {
    sys::module_head head;

    // Serves requests until the file system is unmounted, `connection` ends, or `stop` becomes
    // readable. The caller keeps all three descriptors and calls this on a separate thread. `ask`
    // is vfs::ask, passed in because the module does not link this library. Returns false if
    // libfuse did not start.
    bool (*serve)(int fuse, int connection, int stop, answer (*ask)(const query& request));

    static constexpr sys::module_head expected() noexcept { return {sizeof(fuse_module), 1}; }
};

}  // namespace ucs::vfs
