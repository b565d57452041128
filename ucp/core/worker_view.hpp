// Part of a worker that other threads may read.
#pragma once

#include <string>

#include "ucp/core/activity.hpp"
#include "ucs/type/thread_mode.h"
#include "ucs/vfs/mailbox.hpp"

namespace ucp {

// The data of a worker that any thread may read, and the mailbox through which a thread requests
// the rest. Shared by the worker, the context's list and the threads that read the tree, so a
// worker may be destroyed while its view is in use. The worker changes this data by relaxed stores.
class worker_view final : public ucs::vfs::object {
public:
    worker_view(std::string worker_name, ucs_thread_mode_t mode, ucs::vfs::mailbox::waker wake)
        : queries(std::move(wake)), name(std::move(worker_name)), thread_mode(mode) {}

    // Describes the files of the worker's folder that do not need the worker.
    void describe_worker(ucs::vfs::directory& into) const;
    // Describes the folder under uct/worker, where tools look for transports.
    void describe(ucs::vfs::directory& into) const override;

    ucs::vfs::mailbox queries;
    const std::string name;
    const ucs_thread_mode_t thread_mode;
    activity_counters counters;
    std::string path;  // path in the tree; set when the context adds the view
};

}  // namespace ucp
