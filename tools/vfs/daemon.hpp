// The process behind the mounts.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/vfs/known_listeners.hpp"
#include "tools/vfs/mounts.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::vfs {

// Finds the processes of this user, mounts for each, and takes the mount away when the process ends
// or dies. One thread, nothing in it waits for a process. Throws failure while it is made.
class mount_daemon {
public:
    struct settings {
        std::string folder;
        std::string mount_options;
        std::string key;  // UCX_VFS_SOCK_PATH
        bool talks = false;
        bool verbose = false;
    };
    explicit mount_daemon(settings wanted);

    // Until `ucx_vfs stop` or a signal to end.
    void run();

private:
    // A process that was called: it is mounted when it has answered.
    struct process {
        std::string door;
        pid_t pid;
        ucs::unique_fd connection;
        ucs::unique_fd life;  // a pidfd: a forked child may keep the connection open
        bool mounted = false;
    };

    void look_for_processes();
    void call(const std::string& door);
    void wait();
    void hear(process& from);
    void mount_for(process& ready, const std::string& program);
    void drop(process& gone);
    void accept_command();
    [[nodiscard]] bool is_mounted(pid_t pid) const;
    void say(const std::string& line) const;
    void say_more(const std::string& line) const;

    const settings settings_;
    ucs::unique_fd who_stops_;  // first, so that it closes last: it tells when everything is gone
    ucs::unique_fd commands_;
    ucs::unique_fd signals_;
    mount_folder folder_;
    std::vector<process> processes_;
    known_listeners known_;
    bool ending_ = false;
    bool accepts_nothing_ = false;  // until the next look
};

// Tells the daemon to end, and waits until it has. Throws failure.
void stop_daemon(const std::string& key);

}  // namespace tools::vfs
