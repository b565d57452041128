// What other threads may see of a worker.
#pragma once

#include <string>

#include "ucp/core/activity.hpp"
#include "ucs/type/thread_mode.h"
#include "ucs/vfs/mailbox.hpp"

namespace ucp {

// The part of a worker that any thread may read, and the mailbox through which it asks for the
// rest. Shared by the worker, the context's list and whoever reads the tree at the moment, so a
// worker may go while somebody looks at it. What is here changes by relaxed stores of the worker.
class worker_view final : public ucs::vfs::object {
public:
    worker_view(std::string worker_name, ucs_thread_mode_t mode, ucs::vfs::mailbox::waker wake)
        : questions(std::move(wake)), name(std::move(worker_name)), thread_mode(mode) {}

    // The files of the worker's folder that need no worker.
    void describe_worker(ucs::vfs::directory& into) const;
    // Where transports are looked for: the folder under uct/worker.
    void describe(ucs::vfs::directory& into) const override;

    ucs::vfs::mailbox questions;
    const std::string name;
    const ucs_thread_mode_t thread_mode;
    activity_counters counters;
    std::string path;  // in the tree; set when the context shows it
};

}  // namespace ucp
