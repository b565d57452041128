// The daemon that mounts the object trees of processes.
#pragma once

#include "tools/vfs/known_listeners.hpp"
#include "tools/vfs/mounts.hpp"

namespace tools::vfs {

// Finds the processes of this user, mounts a folder for each, and unmounts it when the process ends
// or dies. One thread, which never waits for a process. The constructor throws failure.
class mount_daemon {
public:
    struct settings {
        std::string folder;
        std::string mount_options;
        std::string key;  // UCX_VFS_SOCK_PATH
        bool reports = false;
        bool verbose = false;
    };
    explicit mount_daemon(settings new_settings);

    // Runs until `ucx_vfs stop` or a termination signal.
    void run();

private:
    // A connected process; it is mounted when it has replied.
    struct process {
        std::string listener;
        pid_t pid;
        ucs::unique_fd connection;
        ucs::unique_fd pidfd;  // detects the death of the process, because a forked child may keep
                               // the connection open
        bool mounted = false;
    };

    void find_processes();
    void connect(const std::string& listener);
    void wait();
    void read_from(process& sender);
    void mount_for(process& ready, const std::string& program);
    void drop(process& ended);
    void accept_command();
    [[nodiscard]] bool is_mounted(pid_t pid) const;
    void report(const std::string& line) const;

    const settings settings_;
    ucs::unique_fd stop_requester_;  // declared first, so that it closes last: its end tells
                                     // `ucx_vfs stop` that all is unmounted
    ucs::unique_fd commands_;
    ucs::unique_fd signals_;
    mount_folder folder_;
    std::vector<process> processes_;
    known_listeners known_;
    bool ending_ = false;
    bool accepts_nothing_ = false;  // until the next poll
};

// Requests the end of the daemon, and waits until it has ended. Throws failure.
void stop_daemon(const std::string& key);

}  // namespace tools::vfs
