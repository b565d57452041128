// Whether the processes of the other ranks still live.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "ucg/node/layout.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::node {

// Holds a pidfd of each process but its own. Owner context.
class watch {
public:
    // `pids`: of every rank, in the namespace of this process; 0 or its own: not watched. A process
    // that is gone already counts as dead.
    explicit watch(std::span<const pid_t> pids);

    // Asks the kernel: a system call.
    [[nodiscard]] bool is_dead(rank_t rank) noexcept;

private:
    struct life {
        ucs::unique_fd fd;
        bool dead = false;
    };
    std::vector<life> lives_;
};

}  // namespace ucg::node
