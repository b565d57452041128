// A child process to whose worker the endpoint page connects.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "tools/info/options.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::info {

// A child that creates a context and a worker according to the options, sends its address, and
// progresses until it is released. Forked before this process creates objects of the library. Main
// thread.
class peer_process {
public:
    explicit peer_process(const options& opts);
    ~peer_process();
    peer_process(const peer_process&) = delete;
    peer_process& operator=(const peer_process&) = delete;

    // Waits for the child's worker and returns its address. Throws failure if it has none.
    [[nodiscard]] std::vector<std::byte> address() const;

private:
    ucs::unique_fd channel_;
    pid_t child_ = -1;
};

}  // namespace tools::info
