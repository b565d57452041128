// Detects the death of the other ranks' processes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <vector>

#include "ucg/node/memory/layout.hpp"

namespace ucg::node {

// The pidfd of one process. Any thread.
class watched_process;

// Knows which processes of a group have died. All groups of this process share one pidfd per
// watched process, so the number of groups costs no descriptors. Owner context.
class watch {
public:
    // `pids`: of every rank, in the PID namespace of this process. A pid of 0 or of this process is
    // not watched. A process that has already ended counts as dead.
    explicit watch(std::span<const pid_t> pids);

    // Asks the kernel by a system call.
    [[nodiscard]] bool is_dead(rank_t rank) noexcept;

private:
    struct watched_rank {
        std::shared_ptr<const watched_process> process;
        bool dead = false;
    };
    std::vector<watched_rank> ranks_;
};

}  // namespace ucg::node
