// Notices that the peer process is gone while the main thread is busy measuring.
#pragma once

#include <thread>

#include "tools/perf/core/stop_flag.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::perf {

// A sleeping thread that waits for the end of the control connection. It then sets the flag, on
// which every waiting loop gives up; should one be stuck inside the library, the process is
// ended after a few seconds. Owned by the session, made and destroyed by the main thread.
class peer_watch {
public:
    peer_watch(int control_fd, stop_flag& stop);
    ~peer_watch();
    peer_watch(const peer_watch&) = delete;
    peer_watch& operator=(const peer_watch&) = delete;

private:
    void run(int control_fd, stop_flag& stop) const;

    ucs::unique_fd end_;  // eventfd, written by the destructor
    std::thread thread_;
};

}  // namespace tools::perf
