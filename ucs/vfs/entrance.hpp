// Where ucx_vfs reaches this process.
#pragma once

#include <memory>

#include "ucs/async/listener_watch.hpp"
#include "ucs/config/source.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs {

// A socket that listens, watched by the event loop of its owner. So a process needs neither a
// thread nor a look at any file to notice a daemon that is started later: the daemon calls, and a
// thread exists only while one does. Owner context.
class entrance {
public:
    // nullptr where it is not wanted or not possible, which nobody else has to care about.
    static std::unique_ptr<entrance> open(async::event_loop& on, const config::source& options);
    ~entrance();
    entrance(const entrance&) = delete;
    entrance& operator=(const entrance&) = delete;

private:
    entrance(async::event_loop& on, unique_fd listener, std::string module_folder);
    void let_in();

    unique_fd listener_;
    const std::string module_folder_;
    async::listener_watch listening_;
};

}  // namespace ucs::vfs
