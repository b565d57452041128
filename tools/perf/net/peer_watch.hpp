// Detects that the peer process is gone or stopped while the main thread is busy measuring.
#pragma once

#include <thread>

#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/net/control.hpp"

namespace tools::perf {

// A sleeping thread that waits for the end of the control connection, or for the silence of the
// peer, and sends keepalives to the peer. When the peer is lost, it sets the flag, and every
// waiting loop gives up. If one is stuck inside the library, the thread ends the process after a
// few seconds. Owned by the session; the main thread creates and destroys it.
class peer_watch {
public:
    peer_watch(control& peer, stop_flag& stop);
    ~peer_watch();
    peer_watch(const peer_watch&) = delete;
    peer_watch& operator=(const peer_watch&) = delete;

    // Returns whether the peer is connected, but has sent nothing for the silence timeout.
    [[nodiscard]] bool found_silence() const noexcept { return found_silence_; }

private:
    void run(control& peer, stop_flag& stop);

    std::atomic<bool> found_silence_{false};

    ucs::unique_fd end_;  // eventfd, written by the destructor
    std::thread thread_;
};

}  // namespace tools::perf
