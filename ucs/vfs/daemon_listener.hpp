// The listening socket through which the daemon ucx_vfs connects to this process.
#pragma once

#include <memory>
#include <string>

#include "ucs/async/listener_watch.hpp"
#include "ucs/config/source.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs {

// A listening socket in the event loop of its owner. The daemon connects to it, so a process needs
// neither a thread nor a watch on a file to notice a daemon that starts later. A thread exists only
// while a daemon is connected. Owner context.
class daemon_listener {
public:
    // Returns nullptr if the option disables it or the socket cannot be made; the caller need not
    // treat that as an error.
    static std::unique_ptr<daemon_listener> open(async::event_loop& events,
                                                 const config::source& options);
    ~daemon_listener();
    daemon_listener(const daemon_listener&) = delete;
    daemon_listener& operator=(const daemon_listener&) = delete;

private:
    daemon_listener(async::event_loop& events, unique_fd listener, std::string module_folder);
    void accept_daemon();

    unique_fd listener_;
    const std::string module_folder_;
    async::listener_watch listening_;
};

}  // namespace ucs::vfs
