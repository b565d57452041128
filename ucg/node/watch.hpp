// Whether the processes of the other ranks still live.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <vector>

#include "ucg/node/layout.hpp"

namespace ucg::node {

// A pidfd of one process. Any thread.
class watched_process;

// Which processes of a group have died. All groups of this process share one pidfd per process that
// they watch, so that the number of groups costs no descriptors. Owner context.
class watch {
public:
    // `pids`: of every rank, in the namespace of this process; 0 or its own: not watched. A process
    // that is gone already counts as dead.
    explicit watch(std::span<const pid_t> pids);

    // Asks the kernel: a system call.
    [[nodiscard]] bool is_dead(rank_t rank) noexcept;

private:
    struct life {
        std::shared_ptr<const watched_process> process;
        bool dead = false;
    };
    std::vector<life> lives_;
};

}  // namespace ucg::node
