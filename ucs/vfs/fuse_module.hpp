// What the module fuse.so offers, and what it needs.
#pragma once

#include "ucs/sys/module.hpp"
#include "ucs/vfs/question.hpp"

namespace ucs::vfs {

// Serves the tree through a descriptor of /dev/fuse that somebody else has mounted.
struct fuse_module {
    sys::module_head head;

    // Returns when the descriptor or `connection` is over, or `stop` becomes readable; all three
    // stay the caller's. On a thread of its own. `ask` is vfs::ask: the module links nothing of
    // ours. False: libfuse did not start.
    bool (*serve)(int fuse, int connection, int stop, answer (*ask)(const question& asked));

    static constexpr sys::module_head expected() noexcept { return {sizeof(fuse_module), 1}; }
};

}  // namespace ucs::vfs
