#include "ucg/node/engine/watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "ucg/schedule/log.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::node {

class watched_process {
public:
    explicit watched_process(ucs::unique_fd pidfd) noexcept : pidfd_(std::move(pidfd)) {}

    [[nodiscard]] bool is_dead() const noexcept {
        pollfd poll_fd{pidfd_.get(), POLLIN, 0};
        return ::poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLIN) != 0;
    }

private:
    const ucs::unique_fd pidfd_;
};

namespace {

// The processes that groups of this process watch.
class watched_processes {
public:
    // Returns nullptr if the death of the process cannot be noticed; then `is_gone` says whether it
    // has already ended. Throws std::bad_alloc.
    [[nodiscard]] std::shared_ptr<const watched_process> find_or_open(pid_t pid, bool& is_gone) {
        const std::lock_guard guard(lock_);
        // A dead process may have left its pid to another process.
        if (auto known = by_pid_[pid].lock(); known != nullptr && !known->is_dead()) return known;
        std::erase_if(by_pid_, [](const auto& each) { return each.second.expired(); });
        ucs::unique_fd pidfd = ucs::sys::within_budget(
            ucs::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
        if (!pidfd) {
            is_gone = errno == ESRCH;
            if (!is_gone)
                ucs::log::warn(node_log,
                               "the death of process {} will not be noticed: pidfd_open: {}", pid,
                               std::strerror(errno));
            return nullptr;
        }
        auto opened = std::make_shared<const watched_process>(std::move(pidfd));
        by_pid_[pid] = opened;
        return opened;
    }

private:
    std::mutex lock_;
    std::unordered_map<pid_t, std::weak_ptr<const watched_process>> by_pid_;
};

// Never destroyed: groups may outlive static objects.
watched_processes& processes() {
    static auto* const all = new watched_processes;
    return *all;
}

}  // namespace

watch::watch(std::span<const pid_t> pids) : ranks_(pids.size()) {
    for (std::size_t rank = 0; rank < pids.size(); ++rank) {
        if (pids[rank] == 0 || pids[rank] == ::getpid()) continue;
        ranks_[rank].process = processes().find_or_open(pids[rank], ranks_[rank].dead);
    }
}

bool watch::is_dead(rank_t rank) noexcept {
    watched_rank& watched = ranks_[rank];
    if (!watched.dead && watched.process) watched.dead = watched.process->is_dead();
    return watched.dead;
}

}  // namespace ucg::node
